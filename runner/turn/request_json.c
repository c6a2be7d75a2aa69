/*
 * Requests as JSON, for callbacks: see run.h.
 */
#include "runner/turn/run.h"

#include "base/json_text.h"
#include "runner/syntax/json_put.h"

#include <errno.h>
#include <stdlib.h>

static json_t *show_tools(const struct request *rq)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < rq->tool_count; i++) {
		json_t *tool = json_pack("{s:s, s:s, s:O*}", "name", rq->tools[i].name,
					 "description", rq->tools[i].description, "parameters",
					 rq->tools[i].parameters);

		if (json_array_append_new(list, tool)) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static json_t *show_config(const struct request *rq)
{
	json_t *config = rq->config ? json_deep_copy(rq->config) : json_object();
	json_t *tools = show_tools(rq);
	int r = !config || !tools;

	if (!r && rq->system.len)
		r = json_object_set_new(config, "systemInstruction",
					json_stringn(rq->system.data, rq->system.len));
	if (!r && rq->tool_count)
		r = json_object_set_new(config, "tools",
					json_pack("[{s:O}]", "functionDeclarations", tools));
	json_decref(tools);
	if (!r)
		return config;
	json_decref(config);
	return NULL;
}

int request_to_json(const struct request *rq, struct buf *out)
{
	json_auto_t *config = show_config(rq);
	size_t i;

	if (!config)
		return -ENOMEM;
	buf_text(out, "{\"model\":");
	json_quote(out, span_of(rq->model));
	buf_text(out, ",\"contents\":[");
	for (i = 0; i < rq->count; i++) {
		if (i)
			buf_char(out, ',');
		content_to_json(rq->contents[i], out);
	}
	buf_text(out, "],\"config\":");
	if (jsonput_value(out, config) < 0)
		return -ENOMEM;
	buf_char(out, '}');
	return buf_check(out, NULL);
}

static int take_contents(struct request *rq, struct span json, struct err *err)
{
	struct json_scan scan = json_scan_of(json, JSON_DEPTH_MAX, err);
	struct request fresh = { 0 };
	bool first = true;
	size_t i;
	int r = json_open(&scan, '[');

	while (r == 0 && (r = json_item(&scan, &first)) == 1) {
		struct content *content = NULL;
		struct span value;

		r = json_raw(&scan, &value);
		if (r == 0)
			r = content_from_json(value, &content, err);
		if (r == 0)
			r = request_add(&fresh, content);
	}
	if (r < 0) {
		request_release(&fresh);
		return r == -ENODATA ? -EINVAL : r;
	}
	for (i = 0; i < rq->count; i++)
		content_free(rq->contents[i]);
	free(rq->contents);
	rq->contents = fresh.contents;
	rq->count = fresh.count;
	return 0;
}

/* A text, or a Content of texts. */
static int take_system(struct request *rq, json_t *value, struct err *err)
{
	json_t *parts = json_object_get(value, "parts");
	json_t *part;
	size_t i;

	buf_clear(&rq->system);
	if (json_is_string(value))
		buf_add(&rq->system, json_string_value(value), json_string_length(value));
	else if (!json_is_array(parts))
		return err_set(err, -EINVAL, "config.systemInstruction has to be a text");
	json_array_foreach(parts, i, part)
	{
		json_t *text = json_object_get(part, "text");

		if (!json_is_string(text))
			return err_set(err, -EINVAL, "config.systemInstruction has to be text");
		buf_text(&rq->system, json_string_value(text));
	}
	return buf_check(&rq->system, err);
}

static int take_declarations(struct request *rq, const json_t *list, struct err *err)
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
			return err_set(err, -EINVAL, "config.tools: a declaration without a name");
		}
	}
	free(rq->tools);
	rq->tools = tools;
	rq->tool_count = n;
	return 0;
}

static int take_tools(struct request *rq, json_t *value, struct err *err)
{
	json_t *all = json_array();
	json_t *entry;
	size_t i;

	if (value && !json_is_array(value)) {
		json_decref(all);
		return err_set(err, -EINVAL, "config.tools has to be a list");
	}
	json_array_foreach(value, i, entry)
	{
		if (json_array_extend(all, json_object_get(entry, "functionDeclarations"))) {
			json_decref(all);
			return err_set(err, -EINVAL,
				       "config.tools has to be a list with functionDeclarations");
		}
	}
	json_decref(rq->tool_schemas);
	rq->tool_schemas = all;
	return take_declarations(rq, all, err);
}

static int take_config(struct request *rq, struct span json, struct err *err)
{
	json_t *config = json_loadb(json.data, json.len, 0, NULL);
	json_t *system = json_object_get(config, "systemInstruction");
	json_t *tools = json_object_get(config, "tools");
	int r = 0;

	if (!json_is_object(config)) {
		json_decref(config);
		return err_set(err, -EINVAL, "config has to be an object");
	}
	if (system)
		r = take_system(rq, system, err);
	else
		buf_clear(&rq->system);
	if (r == 0)
		r = take_tools(rq, tools, err);
	(void)json_object_del(config, "systemInstruction");
	(void)json_object_del(config, "tools");
	json_decref(rq->config);
	rq->config = config;
	return r;
}

/* What is absent stays as it is. */
int request_from_json(struct request *rq, struct span json, struct err *err)
{
	CLEANUP(buf_release) struct buf model = { 0 };
	struct span value;
	int r = 0;

	if (*json.data != '{')
		return err_set(err, -EINVAL, "llmRequest has to be an object");
	if (json_member(json, "model", &value) == 0) {
		r = json_unquote(value, &model);
		if (r < 0 || !buf_cstr(&model))
			return err_set(err, -EINVAL, "model has to be a text");
		free(rq->model);
		rq->model = strdup(model.data);
		if (!rq->model)
			return err_nomem(err);
	}
	if (json_member(json, "contents", &value) == 0) {
		r = take_contents(rq, value, err);
		if (r < 0)
			return err_wrap(err, "contents");
	}
	if (r == 0 && json_member(json, "config", &value) == 0)
		r = take_config(rq, value, err);
	return r;
}
