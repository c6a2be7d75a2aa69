/*
 * Entries of `tools`: see tool_entry.h.
 */
#include "runner/tool_entry.h"

#include "runner/declaration.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define PATH_MAX_LEN 160 /* of a field, as errors name it */
#define AT_GOOGLE    "is run by Google's servers only, and not by adkfs"

/* Names of ADK that are no programs. */
static const struct {
	const char *name;
	const char *reason;
} foreign_tools[] = {
	{ "transfer_to_agent", AGENT_NOT_YET }, { "exit_loop", AGENT_NOT_YET },
	{ "load_memory", AGENT_NOT_YET },       { "preload_memory", AGENT_NOT_YET },
	{ "load_artifacts", AGENT_NOT_YET },    { "set_model_response", AGENT_NOT_YET },
	{ "AgentTool", AGENT_NOT_YET },         { "MCPToolset", AGENT_NOT_YET },
	{ "McpToolset", AGENT_NOT_YET },        { "google_search", AT_GOOGLE },
	{ "url_context", AT_GOOGLE },           { "enterprise_web_search", AT_GOOGLE },
	{ "google_maps_grounding", AT_GOOGLE },
};

int tool_entry_fail(const struct tool_entry *e, const char *member, const char *fmt, ...)
{
	char path[PATH_MAX_LEN];
	char text[200];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	(void)snprintf(path, sizeof path, "tools[%zu]%s%.100s", e->index, *member ? "." : "",
		       member);
	return yaml_tree_fail(e->tree, e->err, path, "%s", text);
}

static int refuse_foreign(const struct tool_entry *e)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(foreign_tools); i++) {
		if (!strcmp(foreign_tools[i].name, e->program))
			return tool_entry_fail(e, "name", "%s %s", e->program,
					       foreign_tools[i].reason);
	}
	return 0;
}

static int find_program(const struct tool_entry *e)
{
	struct err reason = { 0 };
	int r = folder_program(e->folder, e->program, &e->tool->program, &reason);

	if (r == 0)
		return 0;
	if (r == -ENOMEM)
		return err_nomem(e->err);
	if (r == -ENOENT && strchr(e->program, '.') && !strchr(e->program, '/'))
		return tool_entry_fail(e, "name",
				       "%.80s is no program in the folder, and Python is not run",
				       e->program);
	return tool_entry_fail(e, "name", "%s", reason.text);
}

static int read_declaration(const struct tool_entry *e)
{
	CLEANUP(buf_release) struct buf file = { 0 };
	CLEANUP(buf_release) struct buf text = { 0 };
	struct err reason = { 0 };
	int r;

	buf_printf(&file, "%s%s", e->program, DECLARATION_SUFFIX);
	if (!buf_cstr(&file))
		return err_nomem(e->err);
	r = folder_read(e->folder, file.data, AGENT_FILE_MAX, &text, &reason);
	if (r == 0)
		return declaration_read(buf_span(&text), file.data, e->tool, e->err);
	if (r == -ENOMEM)
		return err_nomem(e->err);
	return tool_entry_fail(e, "name", "its declaration %s", reason.text);
}

static int read_args(const struct tool_entry *e, const json_t *args)
{
	if (!args || json_is_null(args))
		return 0;
	if (!json_is_object(args))
		return tool_entry_fail(e, "args", "must be a mapping");
	e->tool->args = json_dumps(args, JSON_COMPACT | JSON_REAL_PRECISION(15));
	if (!e->tool->args)
		return err_nomem(e->err);
	if (strlen(e->tool->args) > AGENT_ARGS_MAX)
		return tool_entry_fail(e, "args", "more than %d bytes", AGENT_ARGS_MAX);
	return 0;
}

/* The two members an entry may have. */
static int check_entry(struct tool_entry *e, const json_t *entry)
{
	const json_t *name = json_object_get(entry, "name");
	const char *key;
	json_t *value;

	if (!json_is_object(entry))
		return tool_entry_fail(e, "", "must be a mapping with a name");
	/* jansson's loop wants a mutable object, but does not change it */
	json_object_foreach((json_t *)entry, key, value)
	{
		if (strcmp(key, "name") != 0 && strcmp(key, "args") != 0)
			return tool_entry_fail(e, key, "unknown field");
	}
	if (!json_is_string(name) || !json_string_length(name))
		return tool_entry_fail(e, "name", name ? "must be a text" : "is missing");
	e->program = json_string_value(name);
	return 0;
}

int tool_entry_read(struct tool_entry *e, const json_t *value)
{
	int r = check_entry(e, value);

	if (r == 0)
		r = refuse_foreign(e);
	if (r == 0)
		r = find_program(e);
	if (r == 0)
		r = read_declaration(e);
	return r < 0 ? r : read_args(e, json_object_get(value, "args"));
}
