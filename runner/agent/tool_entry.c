/*
 * Entries of `tools`: see tool_entry.h. The table of ADK's names is near the end.
 */
#include "runner/agent/tool_entry.h"

#include "runner/agent/builtin.h"
#include "runner/agent/declaration.h"
#include "runner/agent/entry.h"
#include "runner/syntax/schema_form.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define ADK_PREFIX     "google.adk.tools."
#define TOOLSET_PREFIX "toolsets/"
#define AT_GOOGLE      "runs only on Google's servers"
#define IN_PYTHON      "is Python code, which adkfs cannot run"

#define REQUEST_PARAMETERS                                                                         \
	"{\"type\":\"object\",\"properties\":{\"request\":{\"type\":\"string\"}},"                 \
	"\"required\":[\"request\"]}"

static void free_tool(struct tool *tool)
{
	tool_release(tool);
}

/* Adding */

/* Move a tool into the agent. After an error the caller still owns the tool. */
static int add_tool(struct entry *e, struct tool *tool)
{
	struct agent *agent = e->file->agent;

	if (builtin_find(tool->name) != tool->kind && builtin_is_reserved(tool->name))
		return entry_fail(e, "name", "%s is reserved for a tool of ADK", tool->name);
	if (agent_tool(agent, tool->name))
		return entry_fail(e, "name", "another tool is already named %s", tool->name);
	agent->tools[agent->tool_count] = *tool;
	agent->tool_index[agent->tool_count++] = e->index;
	*tool = (struct tool){ 0 };
	return 0;
}

static struct toolset *add_toolset(struct entry *e, enum toolset_kind kind)
{
	struct agent *agent = e->file->agent;
	struct toolset *set = &agent->toolsets[agent->toolset_count++];

	set->kind = kind;
	set->index = e->index;
	return set;
}

/* Built-in tools */

static int read_builtin(struct entry *e, enum tool_kind kind)
{
	CLEANUP(free_tool) struct tool tool = { 0 };
	int r = entry_refuse_args(e);

	if (r == 0)
		r = builtin_fill(kind, &tool, e->file->ld->err);
	if (r < 0)
		return r;
	if (!builtin_is_reserved(tool.name))
		return add_tool(e, &tool);
	if (kind == TOOL_TRANSFER)
		return 0; /* the tool is offered whenever there are agents to transfer to */
	return agent_file_warn(e->file, e->path, "%s is ignored: adkfs adds it where it is needed",
			       tool.name);
}

/* AgentTool */

static int read_flag(struct entry *e, const char *member, const json_t *value, bool *out)
{
	if (!json_is_boolean(value))
		return entry_fail(e, member, "must be true or false");
	*out = json_is_true(value);
	return 0;
}

/* Read the args of an AgentTool: the agent, and the use of its result. */
static int read_agent_args(struct entry *e, struct tool *tool, json_t **agent)
{
	bool plugins; /* adkfs has none, so the value changes nothing */
	const char *key;
	json_t *value;
	int r = 0;

	/* jansson's loop wants a mutable object, but does not change it */
	json_object_foreach((json_t *)e->args, key, value)
	{
		char member[AGENT_PATH_MAX];

		(void)snprintf(member, sizeof member, "args.%.80s", key);
		if (!strcmp(key, "agent"))
			*agent = value;
		else if (!strcmp(key, "skip_summarization"))
			r = read_flag(e, member, value, &tool->skip_summarization);
		else if (!strcmp(key, "include_plugins"))
			r = read_flag(e, member, value, &plugins);
		else
			r = entry_fail(e, member, "unknown field");
		if (r < 0)
			return r;
	}
	return *agent ? 0 : entry_fail(e, "args.agent", "is missing");
}

static int load_agent(struct entry *e, const json_t *reference, struct agent **out)
{
	char path[AGENT_PATH_MAX];

	(void)snprintf(path, sizeof path, "%.80s.args.agent", e->path);
	if (json_is_string(reference))
		return e->file->ld->follow(e->file, path, json_string_value(reference), NULL, out);
	return agent_file_refer(e->file, path, reference, NULL, out);
}

static int read_agent(struct entry *e)
{
	CLEANUP(free_tool) struct tool tool = { .kind = TOOL_AGENT };
	json_t *reference = NULL;
	struct agent *agent;
	int r = read_agent_args(e, &tool, &reference);

	if (r == 0)
		r = load_agent(e, reference, &tool.agent);
	if (r < 0)
		return r;
	agent = tool.agent;
	tool.name = strdup(agent->name);
	tool.description = strdup(agent->description ? agent->description : "");
	tool.parameters = agent->input_schema ? json_incref(agent->input_schema)
					      : json_loads(REQUEST_PARAMETERS, 0, NULL);
	if (!tool.name || !tool.description || !tool.parameters)
		return err_nomem(e->file->ld->err);
	return add_tool(e, &tool);
}

/* Servers */

static int read_mcp(struct entry *e)
{
	char path[AGENT_PATH_MAX];
	struct toolset *set;
	int r;

	if (!e->args)
		return entry_fail(e, "args", "is missing");
	set = add_toolset(e, TOOLSET_MCP);
	(void)snprintf(path, sizeof path, "%.80s.args", e->path);
	r = mcp_params_read(e->file->yaml, path, e->args, &set->mcp, e->file->ld->err);
	if (r < 0)
		return r;
	set->server = mcp_server_new(set->mcp, e->file->agent->tree->folder);
	return set->server ? 0 : err_nomem(e->file->ld->err);
}

/* Programs */

static int read_toolset(struct entry *e)
{
	return entry_read_program(e, &add_toolset(e, TOOLSET_PROGRAM)->program);
}

static int read_declaration(struct entry *e, struct tool *tool)
{
	CLEANUP(buf_release) struct buf file = { 0 };
	CLEANUP(buf_release) struct buf text = { 0 };
	struct err reason = { 0 };
	int r;

	buf_printf(&file, "%s%s", e->name, DECLARATION_SUFFIX);
	if (!buf_cstr(&file))
		return err_nomem(e->file->ld->err);
	r = folder_read(&e->file->ld->folder, file.data, AGENT_FILE_MAX, &text, &reason);
	if (r == 0)
		return declaration_read(buf_span(&text), file.data, tool, e->file->ld->err);
	if (r == -ENOMEM)
		return err_nomem(e->file->ld->err);
	return entry_fail(e, "name", "its declaration %s", reason.text);
}

/* Warn of mistakes in the schema of the parameters, which checks of calls would ignore. */
static int warn_parameters(struct entry *e, const struct tool *tool)
{
	CLEANUP(buf_release) struct buf where = { 0 };
	struct err reason = { 0 };
	int r = tool->parameters ? schema_form_check(tool->parameters, &where, &reason) : 0;

	if (r == -ENOMEM || !buf_cstr(&where))
		return err_nomem(e->file->ld->err);
	if (r == 0)
		return 0;
	return agent_file_warn(e->file, e->path,
			       "%.60s" DECLARATION_SUFFIX ": parameters.%.60s: %s", e->name,
			       where.data, reason.text);
}

static int read_program(struct entry *e)
{
	CLEANUP(free_tool) struct tool tool = { .kind = TOOL_PROGRAM };
	int r = entry_read_program(e, &tool.program);

	if (r == 0)
		r = read_declaration(e, &tool);
	if (r == 0)
		r = warn_parameters(e, &tool);
	return r < 0 ? r : add_tool(e, &tool);
}

/* Names of ADK: the function that reads an entry, or why adkfs has no such tool. */
static const struct known_name {
	const char *name;
	int (*read)(struct entry *e);
	const char *reason;
} known_names[] = {
	{ TOOL_ENTRY_AGENT, read_agent, NULL },
	{ "MCPToolset", read_mcp, NULL },
	{ TOOL_ENTRY_MCP, read_mcp, NULL },
	{ "google_search", NULL, AT_GOOGLE },
	{ "url_context", NULL, AT_GOOGLE },
	{ "enterprise_web_search", NULL, AT_GOOGLE },
	{ "google_maps_grounding", NULL, AT_GOOGLE },
	{ "VertexAiSearchTool", NULL, AT_GOOGLE },
	{ "get_user_choice", NULL, IN_PYTHON },
	{ "FunctionTool", NULL, IN_PYTHON },
	{ "LongRunningFunctionTool", NULL, IN_PYTHON },
	{ "ExampleTool", NULL, IN_PYTHON },
	{ "APIHubToolset", NULL, IN_PYTHON },
};

/* The name without the prefix of ADK's module. */
static const char *short_name(const char *name)
{
	if (strncmp(name, ADK_PREFIX, strlen(ADK_PREFIX)) != 0)
		return name;
	return strrchr(name, '.') + 1;
}

static int read_known(struct entry *e, const struct known_name *known)
{
	if (known->read)
		return known->read(e);
	return entry_fail(e, "name", "%s %s", known->name, known->reason);
}

static int read_entry(struct entry *e, const json_t *value)
{
	enum tool_kind kind;
	const char *name;
	size_t i;
	int r = entry_read(e, value);

	if (r < 0)
		return r;
	name = short_name(e->name);
	kind = builtin_find(name);
	if (kind != TOOL_PROGRAM)
		return read_builtin(e, kind);
	for (i = 0; i < ARRAY_SIZE(known_names); i++) {
		if (!strcmp(known_names[i].name, name))
			return read_known(e, &known_names[i]);
	}
	if (!strncmp(name, TOOLSET_PREFIX, strlen(TOOLSET_PREFIX)))
		return read_toolset(e);
	return read_program(e);
}

int tool_entry_read_all(struct agent_file *file, const char *field, const json_t *list)
{
	struct agent *agent = file->agent;
	size_t n = json_array_size(list);
	char path[AGENT_PATH_MAX];
	int r = 0;
	size_t i;

	agent->tools = calloc(n + 1, sizeof *agent->tools);
	agent->tool_index = calloc(n + 1, sizeof *agent->tool_index);
	agent->toolsets = calloc(n + 1, sizeof *agent->toolsets);
	if (!agent->tools || !agent->tool_index || !agent->toolsets)
		return err_nomem(file->ld->err);
	for (i = 0; i < n && r == 0; i++) {
		struct entry e = { .file = file, .path = path, .index = i };

		(void)snprintf(path, sizeof path, "%.80s[%zu]", field, i);
		r = read_entry(&e, json_array_get(list, i));
	}
	return r;
}
