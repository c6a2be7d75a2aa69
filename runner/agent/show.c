/*
 * Showing programs and toolsets: see show.h.
 */
#include "runner/agent/show.h"

#include "runner/agent/field.h"
#include "runner/agent/tool_entry.h"
#include "runner/syntax/json_value.h"

#include <stdlib.h>

json_t *agent_show_path(const struct agent *agent, const struct program *program)
{
	const char *path = program->path + strlen(agent->tree->folder);

	return json_value_text(path + strspn(path, "/"));
}

/* The args of a program; NULL: none. */
static json_t *args_of(const struct program *program)
{
	return program->args ? json_loads(program->args, 0, NULL) : NULL;
}

json_t *field_show_callbacks(const struct agent *agent, const struct agent_field *f)
{
	const struct callbacks *callbacks = &agent->callbacks[f->at];
	json_auto_t *list = json_array();
	size_t i;

	if (!callbacks->count)
		return json_null();
	for (i = 0; i < callbacks->count; i++) {
		const struct program *program = &callbacks->list[i];
		json_t *shown = json_pack("{s:o, s:o*}", "name", agent_show_path(agent, program),
					  "args", args_of(program));

		if (json_array_append_new(list, shown))
			return NULL;
	}
	return STEAL(&list);
}

/* Tools */

json_t *agent_show_program(const struct agent *agent, const struct tool *tool)
{
	return json_pack("{s:s, s:s, s:o, s:s, s:O*, s:O*, s:b, s:b, s:b, s:o*}", "kind", "program",
			 "name", tool->name, "program", agent_show_path(agent, &tool->program),
			 "description", tool->description, "parameters", tool->parameters,
			 "responseSchema", tool->response, "isLongRunning", tool->long_running,
			 "requireConfirmation", tool->confirm, "network", tool->program.network,
			 "args", args_of(&tool->program));
}

json_t *agent_show_toolset(const struct agent *agent, const struct toolset *set)
{
	json_t *params;

	if (set->kind == TOOLSET_PROGRAM)
		return json_pack("{s:s, s:o, s:o*}", "kind", "toolset", "program",
				 agent_show_path(agent, &set->program), "args",
				 args_of(&set->program));
	params = mcp_params_show(set->mcp);
	return params ? json_pack("{s:s, s:o}", "kind", TOOL_ENTRY_MCP, "args", params) : NULL;
}
