/*
 * Fields of an agent with structure: contents, schemas, programs, other agents. See field.h.
 */
#include "runner/agent/config.h"
#include "runner/agent/field.h"
#include "runner/agent/tool_entry.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* static_instruction: a text, a Part, a list of both, or a Content */

/* Make a part in ADK's JSON; a text becomes a part. A new reference; NULL: out of memory. */
static json_t *part_of(json_t *value)
{
	return json_is_string(value) ? json_pack("{s:O}", "text", value) : json_incref(value);
}

/* Set the error of a content, without the place, which the user's file does not have. */
static int refuse_content(struct agent_file *file, const char *path, const struct err *reason)
{
	static const char of_parts[] = "content: parts: part: ";
	const char *text = reason->text;
	const char *place = strstr(text, " (at byte ");

	if (!strncmp(text, of_parts, strlen(of_parts)))
		text += strlen(of_parts);
	return agent_file_fail(file, path, "%.*s", place ? (int)(place - text) : 200, text);
}

/* Make a content of its JSON object. `path` is the field that errors name. */
static int read_content(struct agent_file *file, const char *path, json_t *object,
			struct content **out)
{
	char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(15));
	struct err reason = { 0 };
	int r = text ? content_from_json(span_of(text), out, &reason) : -ENOMEM;

	free(text);
	if (r == -ENOMEM)
		return err_nomem(file->ld->err);
	return r < 0 ? refuse_content(file, path, &reason) : 0;
}

/* Append a part after checking that it can be read. */
static int add_part(struct agent_file *file, const char *path, json_t *value, json_t *parts)
{
	json_auto_t *part = part_of(value);
	json_auto_t *alone = json_pack("{s:[O]}", "parts", part);
	CLEANUP(content_free_p) struct content *content = NULL;
	int r;

	if (!alone)
		return err_nomem(file->ld->err);
	if (!json_is_object(part))
		return agent_file_fail(file, path, "must be a text or a part");
	r = read_content(file, path, alone, &content);
	if (r < 0)
		return r;
	return json_array_append(parts, part) ? err_nomem(file->ld->err) : 0;
}

static int add_parts(struct agent_file *file, const char *path, json_t *value, json_t *parts)
{
	char at[AGENT_PATH_MAX];
	json_t *part;
	size_t i;
	int r = 0;

	if (!json_is_array(value))
		return add_part(file, path, value, parts);
	for (i = 0; (part = json_array_get(value, i)) && r == 0; i++) {
		(void)snprintf(at, sizeof at, "%.100s[%zu]", path, i);
		r = add_part(file, at, part, parts);
	}
	return r;
}

int field_read_static(struct agent_file *file, const struct agent_field *f, json_t *value)
{
	json_t *given = json_object_get(value, "parts");
	json_auto_t *content = given ? json_copy(value) : json_object();
	json_t *parts = json_array();
	char path[AGENT_PATH_MAX];
	int r;

	(void)snprintf(path, sizeof path, "%s%s", f->name, given ? ".parts" : "");
	if (json_object_set_new(content, "parts", parts))
		return err_nomem(file->ld->err);
	if (!json_object_get(content, "role") &&
	    json_object_set_new(content, "role", json_string("user")))
		return err_nomem(file->ld->err);
	r = add_parts(file, path, given ? given : value, parts);
	return r < 0 ? r : read_content(file, f->name, content, &file->agent->static_instruction);
}

json_t *field_show_static(const struct agent *agent, const struct agent_field *f UNUSED)
{
	CLEANUP(buf_release) struct buf text = { 0 };

	if (!agent->static_instruction)
		return json_null();
	content_to_json(agent->static_instruction, &text);
	return buf_check(&text, NULL) < 0 ? NULL : json_loadb(text.data, text.len, 0, NULL);
}

/* Objects */

int field_read_config(struct agent_file *file, const struct agent_field *f, json_t *value)
{
	if (!json_is_object(value))
		return agent_file_fail(file, f->name, "must be a mapping");
	return genconfig_read(file->yaml, value, &file->agent->config, file->ld->err);
}

/* {name: FILE} of a JSON Schema in the folder. */
int field_read_schema(struct agent_file *file, const struct agent_field *f, json_t *value)
{
	struct entry entry = { .file = file, .path = f->name };
	int r = entry_read(&entry, value);

	if (r == 0)
		r = entry_refuse_args(&entry);
	return r < 0 ? r : entry_read_schema(&entry, agent_field_of(file, f));
}

json_t *field_show_json(const struct agent *agent, const struct agent_field *f)
{
	json_t *const *value = agent_field_in(agent, f);

	return *value ? json_incref(*value) : json_null();
}

/* Programs and other agents */

int field_read_callbacks(struct agent_file *file, const struct agent_field *f, json_t *value)
{
	struct callbacks *callbacks = &file->agent->callbacks[f->at];
	size_t n = json_array_size(value);
	char path[AGENT_PATH_MAX];
	size_t i;
	int r = 0;

	if (!json_is_array(value))
		return agent_file_fail(file, f->name, "must be a list");
	if (n > AGENT_CALLBACKS_MAX)
		return agent_file_fail(file, f->name, "more than %d callbacks",
				       AGENT_CALLBACKS_MAX);
	callbacks->list = calloc(n + 1, sizeof *callbacks->list);
	if (!callbacks->list)
		return err_nomem(file->ld->err);
	callbacks->count = n;
	for (i = 0; i < n && r == 0; i++) {
		struct entry entry = { .file = file, .path = path };

		(void)snprintf(path, sizeof path, "%s[%zu]", f->name, i);
		r = entry_read(&entry, json_array_get(value, i));
		if (r == 0)
			r = entry_read_program(&entry, &callbacks->list[i]);
	}
	return r;
}

int field_read_subs(struct agent_file *file, const struct agent_field *f, json_t *value)
{
	struct agent *agent = file->agent;
	size_t n = json_array_size(value);
	char path[AGENT_PATH_MAX];
	int r = 0;

	if (!json_is_array(value))
		return agent_file_fail(file, f->name, "must be a list");
	agent->subs = calloc(n + 1, sizeof(struct agent *));
	if (!agent->subs)
		return err_nomem(file->ld->err);
	while (r == 0 && agent->sub_count < n) {
		(void)snprintf(path, sizeof path, "%s[%zu]", f->name, agent->sub_count);
		r = agent_file_refer(file, path, json_array_get(value, agent->sub_count), agent,
				     &agent->subs[agent->sub_count]);
		agent->sub_count += r == 0;
	}
	return r;
}

int field_read_tools(struct agent_file *file, const struct agent_field *f, json_t *value)
{
	if (!json_is_array(value))
		return agent_file_fail(file, f->name, "must be a list");
	if (json_array_size(value) > AGENT_TOOLS_MAX)
		return agent_file_fail(file, f->name, "more than %d tools", AGENT_TOOLS_MAX);
	return tool_entry_read_all(file, f->name, value);
}
