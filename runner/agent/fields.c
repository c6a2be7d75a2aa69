/*
 * Fields of an agent's file: the table, what makes a file complete, and agent.json.
 */
#include "runner/agent/config.h"
#include "runner/agent/field.h"
#include "runner/agent/show.h"
#include "runner/agent/tool_entry.h"
#include "runner/model/ask.h"
#include "runner/syntax/json_value.h"

#define MODEL_SETTING "ADKFS_MODEL"

/* Names of fields that the code below mentions, too. */
#define NAME        "name"
#define MODEL       "model"
#define INSTRUCTION "instruction"
#define SUB_AGENTS  "sub_agents"

/* Agents in agents */

static json_t *show_agent(const struct agent *agent);

static json_t *show_agent_tool(const struct tool *tool)
{
	json_t *agent = show_agent(tool->agent);

	if (!agent)
		return NULL;
	return json_pack("{s:s, s:s, s:b, s:O*, s:o}", "kind", TOOL_ENTRY_AGENT, "name", tool->name,
			 "skip_summarization", tool->skip_summarization, "parameters",
			 tool->parameters, "agent", agent);
}

static json_t *show_tool(const struct agent *agent, const struct tool *tool)
{
	if (tool->kind == TOOL_PROGRAM)
		return agent_show_program(agent, tool);
	if (tool->kind == TOOL_AGENT)
		return show_agent_tool(tool);
	return json_pack("{s:s, s:s, s:s, s:O*}", "kind", "built-in", "name", tool->name,
			 "description", tool->description, "parameters", tool->parameters);
}

/* The tools and toolsets, in the order of the file's entries. */
static json_t *show_tools(const struct agent *agent, const struct agent_field *f UNUSED)
{
	json_auto_t *list = json_array();
	size_t t = 0;
	size_t s = 0;

	while (t < agent->tool_count || s < agent->toolset_count) {
		bool is_set = t == agent->tool_count ||
			      (s < agent->toolset_count &&
			       agent->toolsets[s].index < agent->tool_index[t]);
		json_t *shown = is_set ? agent_show_toolset(agent, &agent->toolsets[s++])
				       : show_tool(agent, &agent->tools[t++]);

		if (json_array_append_new(list, shown))
			return NULL;
	}
	return STEAL(&list);
}

static json_t *show_subs(const struct agent *agent, const struct agent_field *f UNUSED)
{
	json_auto_t *list = json_array();
	size_t i;

	if (!agent->sub_count)
		return json_null();
	for (i = 0; i < agent->sub_count; i++) {
		if (json_array_append_new(list, show_agent(agent->subs[i])))
			return NULL;
	}
	return STEAL(&list);
}

/* The table */

#define LLM         (1u << AGENT_LLM)
#define LOOP        (1u << AGENT_LOOP)
#define ALL         ((1u << AGENT_KINDS) - 1)
#define AT(member)  offsetof(struct agent, member), false
#define CALLBACK(k) field_read_callbacks, field_show_callbacks, (k), false

/* The class is first: the other fields depend on it. */
static const struct agent_field fields[] = {
	{ "agent_class", ALL, field_read_class, field_show_class, AT(kind) },
	{ NAME, ALL, field_read_name, field_show_text, AT(name) },
	{ "description", ALL, field_read_text, field_show_text, AT(description) },
	{ "max_iterations", LOOP, field_read_count, field_show_count, AT(max_iterations) },
	{ MODEL, LLM, field_read_model, field_show_text, AT(model) },
	{ "model_code", LLM, field_read_python, field_show_nothing, AT(model) },
	{ INSTRUCTION, LLM, field_read_text, field_show_text, AT(instruction) },
	{ "static_instruction", LLM, field_read_static, field_show_static, AT(static_instruction) },
	{ "output_key", LLM, field_read_output_key, field_show_text, AT(output_key) },
	{ "include_contents", LLM, field_read_history, field_show_history, AT(no_history) },
	{ "input_schema", LLM, field_read_schema, field_show_json, AT(input_schema) },
	{ "output_schema", LLM, field_read_schema, field_show_json, AT(output_schema) },
	{ "disallow_transfer_to_parent", LLM, field_read_flag, field_show_flag, AT(no_parent) },
	{ "disallow_transfer_to_peers", LLM, field_read_flag, field_show_flag, AT(no_peers) },
	{ GENCONFIG_FIELD, LLM, field_read_config, field_show_json, AT(config) },
	{ "before_agent_callbacks", ALL, CALLBACK(BEFORE_AGENT) },
	{ "after_agent_callbacks", ALL, CALLBACK(AFTER_AGENT) },
	{ "before_model_callbacks", LLM, CALLBACK(BEFORE_MODEL) },
	{ "after_model_callbacks", LLM, CALLBACK(AFTER_MODEL) },
	{ "before_tool_callbacks", LLM, CALLBACK(BEFORE_TOOL) },
	{ "after_tool_callbacks", LLM, CALLBACK(AFTER_TOOL) },
	{ "tools", LLM, field_read_tools, show_tools, offsetof(struct agent, tools), true },
	{ SUB_AGENTS, ALL, field_read_subs, show_subs, offsetof(struct agent, subs), true },
};

/* Reading */

static const struct agent_field *find_field(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		if (!strcmp(fields[i].name, name))
			return &fields[i];
	}
	return NULL;
}

static bool has_field(enum agent_kind kind, const struct agent_field *f)
{
	return f && f->kinds & 1u << kind;
}

/* Read a field; null counts as absent. */
static int read_field(struct agent_file *file, const struct agent_field *f)
{
	json_t *value = json_object_get(file->yaml->root, f->name);

	return value && !json_is_null(value) ? f->read(file, f, value) : 0;
}

/* Make the unknown fields of a program agent the args of its program. */
static int read_rest(struct agent_file *file)
{
	struct program *program = &file->agent->program;
	struct entry entry = { .file = file, .path = "" };
	json_auto_t *rest = json_copy(file->yaml->root);
	size_t i;

	if (!rest)
		return err_nomem(file->ld->err);
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		if (has_field(AGENT_PROGRAM, &fields[i]))
			(void)json_object_del(rest, fields[i].name);
	}
	return json_object_size(rest) ? entry_dump_args(&entry, "", rest, &program->args) : 0;
}

static int check_known(struct agent_file *file)
{
	enum agent_kind kind = file->agent->kind;
	const char *name;
	json_t *value;

	if (kind == AGENT_PROGRAM)
		return read_rest(file);
	json_object_foreach(file->yaml->root, name, value)
	{
		const struct agent_field *f = find_field(name);

		if (!f)
			return agent_file_fail(file, name, "unknown field");
		if (!has_field(kind, f))
			return agent_file_fail(file, name, "is not a field of %s",
					       agent_kind_name(kind));
	}
	return 0;
}

/* Warn of a model that no provider has; the turn will fail. */
static int warn_model(struct agent_file *file)
{
	const struct model_provider *provider;
	struct err reason = { 0 };
	const char *name;

	if (model_find(file->agent->model, &provider, &name, &reason) == 0)
		return 0;
	return agent_file_warn(file, MODEL, "%s", reason.text);
}

static const struct agent_file *nearest_llm(const struct agent_file *file)
{
	while (file && file->agent->kind != AGENT_LLM)
		file = file->above;
	return file;
}

/* Give an agent without a model the model of an agent above, or of the setting. */
static int inherit_model(struct agent_file *file)
{
	const struct agent_file *up = nearest_llm(file->above);
	const char *model = up ? up->agent->model
			       : settings_get(file->ld->tree->settings, MODEL_SETTING);

	if (!model)
		return agent_file_fail(file, MODEL,
				       "is missing, and neither an agent above nor %s names one",
				       MODEL_SETTING);
	file->agent->model = strdup(model);
	if (!file->agent->model)
		return err_nomem(file->ld->err);
	return up ? 0 : warn_model(file);
}

static int check_complete(struct agent_file *file)
{
	const struct agent *agent = file->agent;

	if (!agent->name)
		return agent_file_fail(file, NAME, "is missing");
	if (agent->kind != AGENT_LLM)
		return 0;
	if (!agent->instruction)
		return agent_file_fail(file, INSTRUCTION, "is missing");
	if (agent->model)
		return warn_model(file);
	return inherit_model(file);
}

/* Warn of a workflow agent without sub-agents. */
static int warn_empty(struct agent_file *file)
{
	const struct agent *agent = file->agent;

	if (agent->kind == AGENT_LLM || agent->kind == AGENT_PROGRAM || agent->sub_count)
		return 0;
	return agent_file_warn(file, SUB_AGENTS, "is empty: %s does nothing", agent->name);
}

static int read_where(struct agent_file *file, bool refers)
{
	size_t i;
	int r = 0;

	for (i = 1; i < ARRAY_SIZE(fields) && r == 0; i++) {
		if (fields[i].refers == refers && has_field(file->agent->kind, &fields[i]))
			r = read_field(file, &fields[i]);
	}
	return r;
}

int agent_fields_read(struct agent_file *file)
{
	int r;

	if (!json_is_object(file->yaml->root))
		return agent_file_fail(file, "", "must be a mapping of fields");
	r = read_field(file, &fields[0]);
	if (r == 0)
		r = check_known(file);
	if (r == 0)
		r = read_where(file, false);
	if (r == 0)
		r = check_complete(file);
	if (r == 0)
		r = read_where(file, true);
	return r < 0 ? r : warn_empty(file);
}

/* Showing */

static int show_field(const struct agent *agent, const struct agent_field *f, json_t *object)
{
	json_t *value = f->show(agent, f);

	if (json_is_null(value))
		return 0;
	return json_object_set_new(object, f->name, value);
}

static json_t *show_agent(const struct agent *agent)
{
	json_auto_t *object = json_object();
	size_t i;
	int r = 0;

	for (i = 0; i < ARRAY_SIZE(fields) && r == 0; i++) {
		if (has_field(agent->kind, &fields[i]))
			r = show_field(agent, &fields[i], object);
	}
	if (r == 0 && agent->program.args)
		r = json_object_set_new(object, "args", json_loads(agent->program.args, 0, NULL));
	if (r == 0)
		r = json_object_set_new(object, "file", json_string(agent->file));
	return r < 0 ? NULL : STEAL(&object);
}

json_t *agent_show(const struct agent_tree *tree)
{
	json_auto_t *object = show_agent(tree->root);

	if (!object || json_object_set_new(object, "folder", json_value_text(tree->folder)) ||
	    json_object_set_new(object, "warnings", agent_warnings(tree)))
		return NULL;
	return STEAL(&object);
}
