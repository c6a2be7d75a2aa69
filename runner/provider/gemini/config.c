/*
 * generate_content_config for Gemini, which has the same names: a row per member.
 */
#include "runner/provider/gemini/gemini.h"

#include "runner/syntax/json_put.h"
#include "runner/wire/config.h"

#include <errno.h>
#include <stdlib.h>

#define JSON_MIME "application/json"

/* Members that only Vertex AI has. */
static int vertex_json(const struct model_config *w, const struct model_option *o,
		       const json_t *value)
{
	const struct gemini_encoder *e = w->arg;

	if (!e->service->vertex)
		return model_option_bad(w, o->name, "only vertex_ai takes this");
	return model_option_json(w, o, value);
}

static int put_schema(const struct model_config *w, const struct model_option *o,
		      const json_t *value)
{
	const json_t *mime = json_object_get(w->q->config, "responseMimeType");

	if (!mime || json_is_null(mime))
		jsonput_text(w->out, "responseMimeType", SPAN(JSON_MIME));
	return model_config_put_schema(w, o, value, "", "");
}

/* Encode the names of functions in a list. */
static int encode_names(const struct model_config *w, json_t *names)
{
	json_t *item;
	size_t i;

	json_array_foreach(names, i, item)
	{
		CLEANUP(buf_release) struct buf name = { 0 };
		const char *text = json_string_value(item);
		int r = model_name_encode(&gemini_names, text ? text : "", &name, w->err);

		if (r < 0)
			return r;
		if (!buf_cstr(&name) || json_array_set_new(names, i, json_string(name.data)))
			return -ENOMEM;
	}
	return 0;
}

/* The service refuses a choice without tools. */
static int put_tool_config(const struct model_config *w, const struct model_option *o,
			   const json_t *value)
{
	json_auto_t *copy = json_deep_copy(value);
	json_t *calling = json_object_get(copy, "functionCallingConfig");
	int r;

	if (!copy)
		return -ENOMEM;
	if (json_is_true(json_object_get(calling, "streamFunctionCallArguments")))
		return model_option_bad(w, o->name, "streamFunctionCallArguments is not supported");
	if (!w->q->tool_count)
		return 0;
	r = encode_names(w, json_object_get(calling, "allowedFunctionNames"));
	return r < 0 ? r : model_option_json(w, o, copy);
}

/* Members beside generationConfig. */
static const struct model_option outer[] = {
	{ "toolConfig", "toolConfig", put_tool_config },
	{ "safetySettings", "safetySettings", model_option_json },
	{ "cachedContent", "cachedContent", model_option_json },
	{ "labels", "labels", model_option_json },
	{ "automaticFunctionCalling", NULL, model_option_ignore }, /* for SDKs only */
	{ 0 },
};

/* Members in generationConfig. */
static const struct model_option inner[] = {
	{ "temperature", "temperature", model_option_number },
	{ "topP", "topP", model_option_number },
	{ "topK", "topK", model_option_number },
	{ "candidateCount", NULL, model_option_one },
	{ "maxOutputTokens", "maxOutputTokens", model_option_integer },
	{ "stopSequences", "stopSequences", model_option_json },
	{ "seed", "seed", model_option_integer },
	{ "presencePenalty", "presencePenalty", model_option_number },
	{ "frequencyPenalty", "frequencyPenalty", model_option_number },
	{ "responseLogprobs", "responseLogprobs", model_option_json },
	{ "logprobs", "logprobs", model_option_integer },
	{ "responseMimeType", "responseMimeType", model_option_json },
	{ "responseJsonSchema", "responseJsonSchema", put_schema },
	{ "responseModalities", "responseModalities", model_option_json },
	{ "mediaResolution", "mediaResolution", model_option_json },
	{ "speechConfig", "speechConfig", model_option_json },
	{ "thinkingConfig", "thinkingConfig", model_option_json },
	{ "audioTimestamp", "audioTimestamp", vertex_json },
	{ "routingConfig", "routingConfig", vertex_json },
	{ "modelSelectionConfig", "modelConfig", vertex_json },
	{ 0 },
};

int gemini_config(const struct gemini_encoder *e)
{
	CLEANUP(buf_release) struct buf generation = { 0 };
	const struct model_config top = { e->q, e->q->provider->name, e->out, e->err, e };
	const struct model_config in = { e->q, e->q->provider->name, &generation, e->err, e };
	int r = model_config_check(&top, outer, inner);

	if (r == 0)
		r = model_config_put(&top, outer);
	buf_char(&generation, '{');
	if (r == 0)
		r = model_config_put(&in, inner);
	buf_char(&generation, '}');
	if (r == 0 && generation.len > 2)
		jsonput_raw(e->out, "generationConfig", buf_span(&generation));
	return r < 0 ? r : buf_check(&generation, e->err);
}
