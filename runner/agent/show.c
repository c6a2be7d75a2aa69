/*
 * Showing agents: the tree that agent.json has.
 */
#include "runner/agent/load.h"

#include "runner/agent/tool_entry.h"
#include "runner/syntax/json_value.h"

#include <stdlib.h>

/* Where a program lies in the folder. */
json_t *agent_show_path(const struct agent *agent, const struct program *program)
{
	const char *path = program->path + strlen(agent->tree->folder);

	return json_value_text(path + strspn(path, "/"));
}

/* NULL without args. */
static json_t *args_of(const struct program *program)
{
	return program->args ? json_loads(program->args, 0, NULL) : NULL;
}

json_t *agent_show_callbacks(const struct agent *agent, enum callback_kind kind)
{
	const struct callbacks *callbacks = &agent->callbacks[kind];
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < callbacks->count; i++) {
		const struct program *program = &callbacks->list[i];
		json_t *shown = json_pack("{s:o, s:o*}", "name", agent_show_path(agent, program),
					  "args", args_of(program));

		if (json_array_append_new(list, shown)) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

/* Tools */

static json_t *show_program(const struct agent *agent, const struct tool *tool)
{
	return json_pack("{s:s, s:s, s:o, s:s, s:O*, s:O*, s:b, s:b, s:b, s:o*}", "kind", "program",
			 "name", tool->name, "program", agent_show_path(agent, &tool->program),
			 "description", tool->description, "parameters", tool->parameters,
			 "responseSchema", tool->response, "isLongRunning", tool->long_running,
			 "requireConfirmation", tool->confirm, "network", tool->program.network,
			 "args", args_of(&tool->program));
}

static json_t *show_agent_tool(const struct tool *tool)
{
	json_t *agent = agent_fields_show(tool->agent);

	if (!agent)
		return NULL;
	return json_pack("{s:s, s:s, s:b, s:O*, s:o}", "kind", TOOL_ENTRY_AGENT, "name", tool->name,
			 "skip_summarization", tool->skip_summarization, "parameters",
			 tool->parameters, "agent", agent);
}

static json_t *show_tool(const struct agent *agent, const struct tool *tool)
{
	if (tool->kind == TOOL_PROGRAM)
		return show_program(agent, tool);
	if (tool->kind == TOOL_AGENT)
		return show_agent_tool(tool);
	return json_pack("{s:s, s:s, s:s, s:O*}", "kind", "built-in", "name", tool->name,
			 "description", tool->description, "parameters", tool->parameters);
}

static json_t *show_toolset(const struct agent *agent, const struct toolset *set)
{
	json_t *params;

	if (set->kind == TOOLSET_PROGRAM)
		return json_pack("{s:s, s:o, s:o*}", "kind", "toolset", "program",
				 agent_show_path(agent, &set->program), "args",
				 args_of(&set->program));
	params = mcp_params_show(set->mcp);
	return params ? json_pack("{s:s, s:o}", "kind", TOOL_ENTRY_MCP, "args", params) : NULL;
}

/* In the order of the file's entries. */
json_t *agent_show_tools(const struct agent *agent)
{
	json_t *list = json_array();
	size_t t = 0;
	size_t s = 0;

	while (t < agent->tool_count || s < agent->toolset_count) {
		bool is_set = t == agent->tool_count ||
			      (s < agent->toolset_count &&
			       agent->toolsets[s].index < agent->tool_index[t]);
		json_t *shown = is_set ? show_toolset(agent, &agent->toolsets[s++])
				       : show_tool(agent, &agent->tools[t++]);

		if (json_array_append_new(list, shown)) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

json_t *agent_show(const struct agent_tree *tree)
{
	json_t *object = agent_fields_show(tree->root);

	if (!object || json_object_set_new(object, "folder", json_value_text(tree->folder)) ||
	    json_object_set_new(object, "warnings", agent_warnings(tree))) {
		json_decref(object);
		return NULL;
	}
	return object;
}
