/*
 * Prompts as JSON: see prompt.h.
 */
#include "runner/turn/prompt.h"

#include "base/json_text.h"
#include "runner/syntax/json_put.h"

#include <errno.h>
#include <stdlib.h>

static json_t *show_tools(const struct prompt *prompt)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < prompt->tool_count; i++) {
		json_t *tool = json_pack("{s:s, s:s, s:O*}", "name", prompt->tools[i].name,
					 "description", prompt->tools[i].description, "parameters",
					 prompt->tools[i].parameters);

		if (json_array_append_new(list, tool)) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static json_t *show_config(const struct prompt *prompt)
{
	json_t *config = prompt->config ? json_deep_copy(prompt->config) : json_object();
	json_t *tools = show_tools(prompt);
	int r = !config || !tools;

	if (!r && prompt->system.len)
		r = json_object_set_new(config, "systemInstruction",
					json_stringn(prompt->system.data, prompt->system.len));
	if (!r && prompt->tool_count)
		r = json_object_set_new(config, "tools",
					json_pack("[{s:O}]", "functionDeclarations", tools));
	json_decref(tools);
	if (!r)
		return config;
	json_decref(config);
	return NULL;
}

int prompt_to_json(const struct prompt *prompt, struct buf *out)
{
	json_auto_t *config = show_config(prompt);
	size_t i;

	if (!config)
		return -ENOMEM;
	buf_text(out, "{\"model\":");
	json_quote(out, span_of(prompt->model));
	buf_text(out, ",\"contents\":[");
	for (i = 0; i < prompt->history.count; i++) {
		if (i)
			buf_char(out, ',');
		content_to_json(prompt->history.contents[i], out);
	}
	buf_text(out, "],\"config\":");
	if (jsonput_value(out, config) < 0)
		return -ENOMEM;
	buf_char(out, '}');
	return buf_check(out, NULL);
}

static int take_contents(struct prompt *prompt, struct span json, struct err *err)
{
	struct json_scan scan = json_scan_of(json, JSON_DEPTH_MAX, err);
	CLEANUP(history_release) struct history fresh = { 0 };
	bool first = true;
	int r = json_open(&scan, '[');

	while (r == 0 && (r = json_item(&scan, &first)) == 1) {
		struct content *content = NULL;
		struct span value;

		r = json_raw(&scan, &value);
		if (r == 0)
			r = content_from_json(value, &content, err);
		if (r == 0)
			r = history_add(&fresh, content);
	}
	if (r < 0)
		return r == -ENODATA ? -EINVAL : r;
	history_release(&prompt->history);
	prompt->history = fresh;
	fresh = (struct history){ 0 };
	return 0;
}

/* Take systemInstruction: a text, or a Content of texts. */
static int take_system(struct prompt *prompt, json_t *value, struct err *err)
{
	json_t *parts = json_object_get(value, "parts");
	json_t *part;
	size_t i;

	buf_clear(&prompt->system);
	if (json_is_string(value))
		buf_add(&prompt->system, json_string_value(value), json_string_length(value));
	else if (!json_is_array(parts))
		return err_set(err, -EINVAL, "config.systemInstruction must be a text");
	json_array_foreach(parts, i, part)
	{
		json_t *text = json_object_get(part, "text");

		if (!json_is_string(text))
			return err_set(err, -EINVAL, "config.systemInstruction must be text only");
		buf_text(&prompt->system, json_string_value(text));
	}
	return buf_check(&prompt->system, err);
}

static int take_declarations(struct prompt *prompt, const json_t *list, struct err *err)
{
	struct model_tool *tools = calloc(json_array_size(list) + 1, sizeof *tools);
	size_t n = 0;
	json_t *value;
	size_t i;

	if (!tools)
		return err_nomem(err);
	json_array_foreach(list, i, value)
	{
		const char *text = json_string_value(json_object_get(value, "description"));

		tools[n].name = json_string_value(json_object_get(value, "name"));
		tools[n].description = text ? text : "";
		tools[n].parameters = json_object_get(value, "parameters");
		if (!tools[n++].name) {
			free(tools);
			return err_set(err, -EINVAL,
				       "config.tools has a declaration without a name");
		}
	}
	free(prompt->tools);
	prompt->tools = tools;
	prompt->tool_count = n;
	return 0;
}

static int take_tools(struct prompt *prompt, json_t *value, struct err *err)
{
	json_t *all = json_array();
	json_t *entry;
	size_t i;

	if (value && !json_is_array(value)) {
		json_decref(all);
		return err_set(err, -EINVAL, "config.tools must be a list");
	}
	json_array_foreach(value, i, entry)
	{
		if (json_array_extend(all, json_object_get(entry, "functionDeclarations"))) {
			json_decref(all);
			return err_set(err, -EINVAL,
				       "config.tools must be a list with functionDeclarations");
		}
	}
	json_decref(prompt->tool_schemas);
	prompt->tool_schemas = all;
	return take_declarations(prompt, all, err);
}

static int take_config(struct prompt *prompt, struct span json, struct err *err)
{
	json_t *config = json_loadb(json.data, json.len, 0, NULL);
	json_t *system = json_object_get(config, "systemInstruction");
	json_t *tools = json_object_get(config, "tools");
	int r = 0;

	if (!json_is_object(config)) {
		json_decref(config);
		return err_set(err, -EINVAL, "config must be an object");
	}
	if (system)
		r = take_system(prompt, system, err);
	else
		buf_clear(&prompt->system);
	if (r == 0)
		r = take_tools(prompt, tools, err);
	(void)json_object_del(config, "systemInstruction");
	(void)json_object_del(config, "tools");
	json_decref(prompt->config);
	prompt->config = config;
	return r;
}

/* Members that are absent stay unchanged. */
int prompt_from_json(struct prompt *prompt, struct span json, struct err *err)
{
	CLEANUP(buf_release) struct buf model = { 0 };
	struct span value;
	int r = 0;

	if (*json.data != '{')
		return err_set(err, -EINVAL, "llmRequest must be an object");
	if (json_member(json, "model", &value) == 0) {
		r = json_unquote(value, &model);
		if (r < 0 || !buf_cstr(&model))
			return err_set(err, -EINVAL, "model must be a text");
		free(prompt->model);
		prompt->model = strdup(model.data);
		if (!prompt->model)
			return err_nomem(err);
	}
	if (json_member(json, "contents", &value) == 0) {
		r = take_contents(prompt, value, err);
		if (r < 0)
			return err_wrap(err, "contents");
	}
	if (r == 0 && json_member(json, "config", &value) == 0)
		r = take_config(prompt, value, err);
	return r;
}
