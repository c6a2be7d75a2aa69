/*
 * generate_content_config for OpenAI Responses: a row per member.
 */
#include "runner/provider/openai/responses.h"

#include "runner/provider/openai/openai.h"
#include "runner/syntax/json_put.h"
#include "runner/wire/config.h"

#include <errno.h>
#include <strings.h>

static int put_schema(const struct model_config *w, const struct model_option *o,
		      const json_t *value)
{
	return model_config_put_schema(
		w, o, value,
		"{\"format\":{\"type\":\"json_schema\",\"name\":\"response\","
		"\"schema\":",
		",\"strict\":false}}");
}

static int put_mime(const struct model_config *w, const struct model_option *o,
		    const json_t *value UNUSED)
{
	return model_config_put_json(w, o, SPAN("{\"format\":{\"type\":\"json_object\"}}"));
}

static int put_function(const struct model_config *w, const json_t *name)
{
	CLEANUP(buf_release) struct buf wire = { 0 };
	int r;

	if (!json_is_string(name))
		return model_option_bad(w, "toolConfig", "the name of a function is not a string");
	r = model_name_encode(&responses_names, json_string_value(name), &wire, w->err);
	if (r < 0)
		return r;
	buf_text(w->out, "{\"type\":\"function\"");
	jsonput_text(w->out, "name", buf_span(&wire));
	buf_char(w->out, '}');
	return 0;
}

static int put_functions(const struct model_config *w, const json_t *names, const char *mode)
{
	const json_t *name;
	size_t i;
	int r = 0;

	buf_text(w->out, "{\"type\":\"allowed_tools\"");
	jsonput_text(w->out, "mode", span_of(mode));
	buf_text(w->out, ",\"tools\":[");
	json_array_foreach(names, i, name)
	{
		jsonput_item(w->out);
		r = put_function(w, name);
		if (r < 0)
			return r;
	}
	buf_text(w->out, "]}");
	return 0;
}

/* The service refuses a choice without tools. */
static int put_tool_choice(const struct model_config *w, const struct model_option *o,
			   const json_t *value)
{
	static const char *const words[] = { [MODEL_CHOICE_AUTO] = "auto",
					     [MODEL_CHOICE_ANY] = "required",
					     [MODEL_CHOICE_NONE] = "none" };
	const json_t *names = json_object_get(json_object_get(value, "functionCallingConfig"),
					      "allowedFunctionNames");
	struct model_tool_choice choice;
	int r = model_config_choice(w, &choice);

	if (r < 0 || !w->q->tool_count)
		return r;
	jsonput_key(w->out, o->wire);
	if (choice.allowed && choice.mode != MODEL_CHOICE_NONE) {
		if (choice.only && choice.mode == MODEL_CHOICE_ANY)
			return put_function(w, json_array_get(names, 0));
		return put_functions(w, names, words[choice.mode]);
	}
	buf_printf(w->out, "\"%s\"", words[choice.mode]);
	return 0;
}

/* The service shows only a summary of thoughts, and only if it is asked. */
static int put_thinking(const struct model_config *w, const struct model_option *o,
			const json_t *value)
{
	const char *word = json_string_value(json_object_get(value, "thinkingLevel"));
	bool shown = json_is_true(json_object_get(value, "includeThoughts"));
	int r = 0;

	if (json_is_number(json_object_get(value, "thinkingBudget")))
		return model_option_bad(w, o->name,
					RESPONSES_SAID " takes a thinkingLevel, not a budget");
	if (word && strcasecmp(word, "THINKING_LEVEL_UNSPECIFIED") == 0)
		word = NULL;
	if (!word && !shown)
		return 0;
	jsonput_key(w->out, o->wire);
	buf_char(w->out, '{');
	if (word)
		r = model_config_put_level(w, o, "effort", word);
	if (shown)
		jsonput_text(w->out, "summary", SPAN("auto"));
	buf_char(w->out, '}');
	return r;
}

static const struct model_option options[] = {
	{ "temperature", "temperature", model_option_number },
	{ "topP", "top_p", model_option_number },
	{ "maxOutputTokens", "max_output_tokens", model_option_integer },
	{ "candidateCount", NULL, model_option_one },
	{ "responseLogprobs", NULL, model_option_off },
	{ "responseMimeType", "text", put_mime },
	{ "responseJsonSchema", "text", put_schema },
	{ "toolConfig", "tool_choice", put_tool_choice },
	{ "thinkingConfig", "reasoning", put_thinking },
	{ "httpOptions", NULL, model_option_extra },
	{ 0 },
};

int responses_config(const struct question *q, struct buf *out, struct err *err)
{
	static const char *const own[] = { "model", "stream",       "store", "include",
					   "input", "instructions", "tools", NULL };
	const struct model_config w = { q, RESPONSES_SAID, out, err, NULL };
	int r = model_config_check(&w, options, NULL);

	if (r == 0)
		r = model_config_put(&w, options);
	return r < 0 ? r : model_config_put_extra(&w, options, model_config_extra(q), own);
}
