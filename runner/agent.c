/*
 * Agents: see agent.h. The table of the fields of root_agent.yaml says what
 * each is and who takes it; it is near the end.
 */
#include "runner/agent.h"

#include "runner/folder.h"
#include "runner/genconfig.h"
#include "runner/instruction.h"
#include "runner/tool_entry.h"
#include "runner/yaml.h"
#include "store/statekey.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define ENV_FILE        ".env"
#define CLASS_PREFIX    "google.adk.agents."
#define TIMEOUT_SETTING "ADKFS_TOOL_TIMEOUT_MS"
#define TIMEOUT_MAX_MS  86400000
#define PATH_LEN        192 /* of a field, as errors name it */

struct loader {
	struct agent *agent;
	struct folder folder;
	struct yaml_tree *tree;
	struct err *err;
};

/* A field of the file. */
struct field {
	const char *name;
	int (*take)(struct loader *ld, const struct field *f, json_t *value);
	size_t text; /* where take_text puts it in struct agent */
};

/* Life */

void tool_release(struct tool *tool)
{
	free(tool->name);
	free(tool->description);
	free(tool->program);
	free(tool->args);
	json_decref(tool->parameters);
	json_decref(tool->response);
	json_decref(tool->declaration);
	*tool = (struct tool){ 0 };
}

static void agent_free(struct agent *agent)
{
	size_t i;

	for (i = 0; i < agent->tool_count; i++)
		tool_release(&agent->tools[i]);
	free(agent->tools);
	free(agent->name);
	free(agent->description);
	free(agent->model);
	free(agent->instruction);
	free(agent->static_instruction);
	free(agent->output_key);
	free(agent->folder);
	json_decref(agent->config);
	json_decref(agent->warnings);
	json_decref(agent->files);
	settings_free(agent->settings);
	free(agent);
}

struct agent *agent_ref(struct agent *agent)
{
	atomic_fetch_add(&agent->refs, 1);
	return agent;
}

void agent_unref(struct agent *agent)
{
	if (agent && atomic_fetch_sub(&agent->refs, 1) == 1)
		agent_free(agent);
}

bool agent_is_stale(const struct agent *agent)
{
	return folder_changed(agent->folder, agent->files);
}

const struct tool *agent_tool(const struct agent *agent, const char *name)
{
	size_t i;

	for (i = 0; i < agent->tool_count; i++) {
		if (!strcmp(agent->tools[i].name, name))
			return &agent->tools[i];
	}
	return NULL;
}

/* Texts */

static int need_text(struct loader *ld, const char *path, const json_t *value)
{
	if (json_is_string(value))
		return 0;
	return yaml_tree_fail(ld->tree, ld->err, path, "must be a text");
}

static int copy_text(struct loader *ld, const char *text, char **out)
{
	*out = strdup(text);
	return *out ? 0 : err_nomem(ld->err);
}

static int take_text(struct loader *ld, const struct field *f, json_t *value)
{
	char **out = (char **)(void *)((char *)ld->agent + f->text);
	int r = need_text(ld, f->name, value);

	return r < 0 ? r : copy_text(ld, json_string_value(value), out);
}

static int take_name(struct loader *ld, const struct field *f, json_t *value)
{
	int r = take_text(ld, f, value);

	if (r < 0)
		return r;
	if (!instruction_is_identifier(span_of(ld->agent->name)))
		return yaml_tree_fail(ld->tree, ld->err, f->name,
				      "'%.80s' has to be a letter or _, then letters, digits, _",
				      ld->agent->name);
	if (!strcmp(ld->agent->name, "user"))
		return yaml_tree_fail(ld->tree, ld->err, f->name,
				      "'user' is the name of who talks to the agent");
	return 0;
}

static int take_model(struct loader *ld, const struct field *f, json_t *value)
{
	int r = take_text(ld, f, value);

	if (r == 0 && !*ld->agent->model)
		return yaml_tree_fail(ld->tree, ld->err, f->name, "is empty");
	return r;
}

static int take_output_key(struct loader *ld, const struct field *f, json_t *value)
{
	struct err reason = { 0 };
	int r = take_text(ld, f, value);

	if (r < 0)
		return r;
	if (statekey_check(span_of(ld->agent->output_key), &reason) < 0)
		return yaml_tree_fail(ld->tree, ld->err, f->name, "%s", reason.text);
	return 0;
}

static int take_history(struct loader *ld, const struct field *f, json_t *value)
{
	const char *text = json_is_string(value) ? json_string_value(value) : "";

	ld->agent->no_history = !strcmp(text, "none");
	if (ld->agent->no_history || !strcmp(text, "default"))
		return 0;
	return yaml_tree_fail(ld->tree, ld->err, f->name, "must be default or none");
}

/* static_instruction: a text, a part {text}, a list of both, or {parts: list} */

static int join_text(struct loader *ld, const char *path, const json_t *part, struct buf *out)
{
	const json_t *text = json_is_object(part) ? json_object_get(part, "text") : part;

	if (!json_is_string(text) || (json_is_object(part) && json_object_size(part) > 1))
		return yaml_tree_fail(ld->tree, ld->err, path,
				      "must be text: another part " AGENT_NOT_YET);
	if (out->len)
		buf_char(out, '\n');
	buf_text(out, json_string_value(text));
	return 0;
}

static int join_texts(struct loader *ld, const char *path, const json_t *parts, struct buf *out)
{
	json_t *part;
	size_t i;

	if (!json_is_array(parts))
		return join_text(ld, path, parts, out);
	json_array_foreach(parts, i, part)
	{
		char at[PATH_LEN];
		int r;

		(void)snprintf(at, sizeof at, "%.100s[%zu]", path, i);
		r = join_text(ld, at, part, out);
		if (r < 0)
			return r;
	}
	return 0;
}

static int take_static(struct loader *ld, const struct field *f, json_t *value)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	const json_t *parts = json_object_get(value, "parts");
	char path[PATH_LEN];
	int r;

	(void)snprintf(path, sizeof path, "%s%s", f->name, parts ? ".parts" : "");
	r = join_texts(ld, path, parts ? parts : value, &text);
	if (r < 0)
		return r;
	if (!buf_cstr(&text))
		return err_nomem(ld->err);
	return copy_text(ld, text.data, &ld->agent->static_instruction);
}

/* generate_content_config */

static int take_config(struct loader *ld, const struct field *f, json_t *value)
{
	if (!json_is_object(value))
		return yaml_tree_fail(ld->tree, ld->err, f->name, "must be a mapping");
	return genconfig_read(ld->tree, value, &ld->agent->config, ld->err);
}

/* tools */

static int take_tool(struct loader *ld, size_t index, const json_t *value)
{
	struct agent *agent = ld->agent;
	struct tool_entry entry = {
		.folder = &ld->folder,
		.tree = ld->tree,
		.index = index,
		.tool = &agent->tools[index],
		.err = ld->err,
	};
	size_t i;
	int r = tool_entry_read(&entry, value);

	for (i = 0; i < index && r == 0; i++) {
		if (!strcmp(agent->tools[i].name, entry.tool->name))
			r = tool_entry_fail(&entry, "name", "a second tool named %s",
					    entry.tool->name);
	}
	return r;
}

static int take_tools(struct loader *ld, const struct field *f, json_t *value)
{
	size_t n = json_array_size(value);
	json_t *entry;
	size_t i;

	if (!json_is_array(value))
		return yaml_tree_fail(ld->tree, ld->err, f->name, "must be a list");
	if (n > AGENT_TOOLS_MAX)
		return yaml_tree_fail(ld->tree, ld->err, f->name, "more than %d tools",
				      AGENT_TOOLS_MAX);
	ld->agent->tools = calloc(n + 1, sizeof *ld->agent->tools);
	if (!ld->agent->tools)
		return err_nomem(ld->err);
	ld->agent->tool_count = n;
	json_array_foreach(value, i, entry)
	{
		int r = take_tool(ld, i, entry);

		if (r < 0)
			return r;
	}
	return 0;
}

/* Fields that mean nothing here, or nothing yet */

/* Transfers need other agents, of which there are none. */
static int take_flag(struct loader *ld, const struct field *f, json_t *value)
{
	if (json_is_boolean(value))
		return 0;
	return yaml_tree_fail(ld->tree, ld->err, f->name, "must be true or false");
}

static int take_unsupported(struct loader *ld, const struct field *f, json_t *value)
{
	if (json_is_array(value) && !json_array_size(value))
		return 0;
	return yaml_tree_fail(ld->tree, ld->err, f->name, AGENT_NOT_YET);
}

static int take_python(struct loader *ld, const struct field *f, json_t *value UNUSED)
{
	return yaml_tree_fail(ld->tree, ld->err, f->name,
			      "names a Python object, which adkfs cannot run");
}

static const char *const other_classes[] = { "SequentialAgent", "ParallelAgent", "LoopAgent" };

/* Also "google.adk.agents.LlmAgent" and alike. */
static int take_class(struct loader *ld, const struct field *f, json_t *value)
{
	const char *name;
	size_t i;
	int r = need_text(ld, f->name, value);

	if (r < 0)
		return r;
	name = json_string_value(value);
	if (strchr(name, '/'))
		return yaml_tree_fail(ld->tree, ld->err, f->name,
				      "a program as an agent " AGENT_NOT_YET);
	if (!strncmp(name, CLASS_PREFIX, strlen(CLASS_PREFIX)))
		name = strrchr(name, '.') + 1;
	if (!*name || !strcmp(name, AGENT_CLASS))
		return 0;
	for (i = 0; i < ARRAY_SIZE(other_classes); i++) {
		if (!strcmp(name, other_classes[i]))
			return yaml_tree_fail(ld->tree, ld->err, f->name, "%s " AGENT_NOT_YET,
					      name);
	}
	return yaml_tree_fail(ld->tree, ld->err, f->name, "unknown kind of agent '%.80s'", name);
}

#define TEXT_AT(member) offsetof(struct agent, member)

/* The class is first: other kinds have other fields. */
static const struct field fields[] = {
	{ "agent_class", take_class, 0 },
	{ "name", take_name, TEXT_AT(name) },
	{ "description", take_text, TEXT_AT(description) },
	{ "model", take_model, TEXT_AT(model) },
	{ "model_code", take_python, 0 },
	{ "instruction", take_text, TEXT_AT(instruction) },
	{ "static_instruction", take_static, 0 },
	{ "output_key", take_output_key, TEXT_AT(output_key) },
	{ "include_contents", take_history, 0 },
	{ GENCONFIG_FIELD, take_config, 0 },
	{ "tools", take_tools, 0 },
	{ "sub_agents", take_unsupported, 0 },
	{ "input_schema", take_unsupported, 0 },
	{ "output_schema", take_unsupported, 0 },
	{ "disallow_transfer_to_parent", take_flag, 0 },
	{ "disallow_transfer_to_peers", take_flag, 0 },
	{ "before_agent_callbacks", take_unsupported, 0 },
	{ "after_agent_callbacks", take_unsupported, 0 },
	{ "before_model_callbacks", take_unsupported, 0 },
	{ "after_model_callbacks", take_unsupported, 0 },
	{ "before_tool_callbacks", take_unsupported, 0 },
	{ "after_tool_callbacks", take_unsupported, 0 },
};

static const struct field *find_field(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		if (!strcmp(fields[i].name, name))
			return &fields[i];
	}
	return NULL;
}

/* A field that is null is one that is not there. */
static int take_field(struct loader *ld, const struct field *f)
{
	json_t *value = json_object_get(ld->tree->root, f->name);

	return value && !json_is_null(value) ? f->take(ld, f, value) : 0;
}

static int check_known(struct loader *ld)
{
	const char *name;
	json_t *value;

	json_object_foreach(ld->tree->root, name, value)
	{
		if (!find_field(name))
			return yaml_tree_fail(ld->tree, ld->err, name, "unknown field");
	}
	return 0;
}

static int check_complete(struct loader *ld)
{
	const struct agent *agent = ld->agent;
	const char *missing = NULL;

	if (!agent->name)
		missing = "name";
	else if (!agent->model)
		missing = "model";
	else if (!agent->instruction)
		missing = "instruction";
	return missing ? yaml_tree_fail(ld->tree, ld->err, missing, "is missing") : 0;
}

static int take_fields(struct loader *ld)
{
	size_t i;
	int r;

	if (!json_is_object(ld->tree->root))
		return yaml_tree_fail(ld->tree, ld->err, "", "must be a mapping of fields");
	r = take_field(ld, &fields[0]);
	if (r == 0)
		r = check_known(ld);
	for (i = 1; i < ARRAY_SIZE(fields) && r == 0; i++)
		r = take_field(ld, &fields[i]);
	return r < 0 ? r : check_complete(ld);
}

/* Loading */

static int take_timeout(struct loader *ld)
{
	const char *text = settings_get(ld->agent->settings, TIMEOUT_SETTING);
	unsigned long value;
	char *end;

	if (!text)
		return 0;
	value = strtoul(text, &end, 10);
	if (*end || *text == '-' || !value || value > TIMEOUT_MAX_MS)
		return err_set(ld->err, -EINVAL, "%s: must be a number from 1 to %d",
			       TIMEOUT_SETTING, TIMEOUT_MAX_MS);
	ld->agent->tool_timeout_ms = (unsigned)value;
	return 0;
}

static int read_settings(struct loader *ld)
{
	int r = folder_note(&ld->folder, ENV_FILE, ld->err);

	if (r == 0)
		r = settings_load(ld->folder.path, &ld->agent->settings, ld->err);
	return r < 0 ? r : take_timeout(ld);
}

static int read_root(struct loader *ld)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	int r = folder_read(&ld->folder, AGENT_ROOT_FILE, AGENT_FILE_MAX, &text, ld->err);

	if (r < 0)
		return r;
	return yaml_tree_load(buf_span(&text), AGENT_ROOT_FILE, &ld->tree, ld->err);
}

static void loader_release(struct loader *ld)
{
	agent_unref(ld->agent);
	folder_release(&ld->folder);
	yaml_tree_free(ld->tree);
}

int agent_load(const char *folder, struct agent **out, struct err *err)
{
	CLEANUP(loader_release) struct loader ld = { .err = err };
	int r;

	ld.agent = calloc(1, sizeof *ld.agent);
	if (!ld.agent)
		return err_nomem(err);
	ld.agent->refs = 1;
	ld.agent->warnings = json_array();
	if (!ld.agent->warnings)
		return err_nomem(err);
	r = folder_open(folder, &ld.folder, err);
	if (r == 0)
		r = read_root(&ld);
	if (r == 0)
		r = read_settings(&ld);
	if (r == 0)
		r = take_fields(&ld);
	if (r < 0)
		return r;
	ld.agent->folder = STEAL(&ld.folder.path);
	ld.agent->files = STEAL(&ld.folder.files);
	ld.agent->mtime = ld.folder.mtime;
	*out = STEAL(&ld.agent);
	return 0;
}

/* Showing */

static json_t *show_tool(const struct agent *agent, const struct tool *tool)
{
	const char *program = tool->program + strlen(agent->folder);
	json_t *args = tool->args ? json_loads(tool->args, 0, NULL) : NULL;

	return json_pack("{s:s, s:s, s:s, s:O*, s:O*, s:b, s:o*}", "name", tool->name, "program",
			 program + strspn(program, "/"), "description", tool->description,
			 "parameters", tool->parameters, "responseSchema", tool->response,
			 "isLongRunning", tool->long_running, "args", args);
}

static json_t *show_tools(const struct agent *agent)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < agent->tool_count; i++) {
		if (json_array_append_new(list, show_tool(agent, &agent->tools[i]))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

json_t *agent_show(const struct agent *agent)
{
	json_t *tools = show_tools(agent);

	if (!tools)
		return NULL;
	return json_pack("{s:s, s:s, s:s*, s:s, s:s, s:s*, s:s*, s:s, s:O*, s:o, s:s, s:O}",
			 "agent_class", AGENT_CLASS, "name", agent->name, "description",
			 agent->description, "model", agent->model, "instruction",
			 agent->instruction, "static_instruction", agent->static_instruction,
			 "output_key", agent->output_key, "include_contents",
			 agent->no_history ? "none" : "default", GENCONFIG_FIELD, agent->config,
			 "tools", tools, "folder", agent->folder, "warnings", agent->warnings);
}
