/*
 * generate_content_config for OpenAI chat completions: a row per member.
 */
#include "runner/provider/openai/openai.h"

#include "runner/syntax/json_put.h"
#include "runner/wire/config.h"

#include <errno.h>
#include <strings.h>

#define STOP_MAX 4

static int put_max_tokens(const struct model_config *w, const struct model_option *o,
			  const json_t *value)
{
	const struct openai_way *way = w->arg;
	const struct model_option named = { o->name, way->max_tokens, NULL };

	return model_option_integer(w, &named, value);
}

static int put_seed(const struct model_config *w, const struct model_option *o, const json_t *value)
{
	const struct openai_way *way = w->arg;
	const struct model_option named = { o->name, "random_seed", NULL };

	return model_option_integer(w, way->quirks & OPENAI_RANDOM_SEED ? &named : o, value);
}

/* Fail with "NAME: PROVIDER takes WHAT". */
static int takes(const struct model_config *w, const char *name, const char *what)
{
	return err_set(w->err, -EINVAL, "generate_content_config: %s: %s takes %s", name,
		       w->provider, what);
}

static int put_stop(const struct model_config *w, const struct model_option *o, const json_t *value)
{
	if (!json_is_array(value) || json_array_size(value) > STOP_MAX)
		return takes(w, o->name, "a list of up to 4 texts");
	return json_array_size(value) ? model_option_json(w, o, value) : 0;
}

static int put_schema(const struct model_config *w, const struct model_option *o,
		      const json_t *value)
{
	return model_config_put_schema(w, o, value,
				       "{\"type\":\"json_schema\",\"json_schema\":{\"name\":"
				       "\"response\",\"schema\":",
				       "}}");
}

static int put_mime(const struct model_config *w, const struct model_option *o,
		    const json_t *value UNUSED)
{
	return model_config_put_json(w, o, SPAN("{\"type\":\"json_object\"}"));
}

static int put_function_choice(const struct model_config *w, const struct model_tool_choice *choice)
{
	const struct model_name_rule rule = openai_name_rule(w->q->provider);
	CLEANUP(buf_release) struct buf name = { 0 };
	int r;

	if (!choice->only)
		return takes(w, "toolConfig", "only one name in allowedFunctionNames");
	r = model_name_encode(&rule, choice->only, &name, w->err);
	if (r < 0)
		return r;
	buf_text(w->out, "{\"type\":\"function\",\"function\":{");
	jsonput_text(w->out, "name", buf_span(&name));
	buf_text(w->out, "}}");
	return 0;
}

/* The service refuses a choice without tools. */
static int put_tool_choice(const struct model_config *w, const struct model_option *o,
			   const json_t *value UNUSED)
{
	static const char *const words[] = { [MODEL_CHOICE_AUTO] = "auto",
					     [MODEL_CHOICE_ANY] = "required",
					     [MODEL_CHOICE_NONE] = "none" };
	struct model_tool_choice choice;
	int r = model_config_choice(w, &choice);

	if (r < 0 || !w->q->tool_count)
		return r;
	if (!choice.allowed) {
		jsonput_text(w->out, o->wire, span_of(words[choice.mode]));
		return 0;
	}
	jsonput_key(w->out, o->wire);
	return put_function_choice(w, &choice);
}

/* Only the level can be sent; thoughts are always shown. */
static int put_thinking(const struct model_config *w, const struct model_option *o,
			const json_t *value)
{
	const char *word = json_string_value(json_object_get(value, "thinkingLevel"));

	if (json_is_number(json_object_get(value, "thinkingBudget")))
		return takes(w, o->name, "a thinkingLevel, not a budget");
	if (!word || strcasecmp(word, "THINKING_LEVEL_UNSPECIFIED") == 0)
		return 0;
	return model_config_put_level(w, o, o->wire, word);
}

static const struct model_option options[] = {
	{ "temperature", "temperature", model_option_number },
	{ "topP", "top_p", model_option_number },
	{ "maxOutputTokens", NULL, put_max_tokens },
	{ "stopSequences", "stop", put_stop },
	{ "seed", "seed", put_seed },
	{ "presencePenalty", "presence_penalty", model_option_number },
	{ "frequencyPenalty", "frequency_penalty", model_option_number },
	{ "candidateCount", NULL, model_option_one },
	{ "responseLogprobs", NULL, model_option_off },
	{ "responseMimeType", "response_format", put_mime },
	{ "responseJsonSchema", "response_format", put_schema },
	{ "toolConfig", "tool_choice", put_tool_choice },
	{ "thinkingConfig", "reasoning_effort", put_thinking },
	{ 0 },
};

int openai_config(const struct question *q, const struct openai_way *way, struct buf *out,
		  struct err *err)
{
	const struct model_config w = { q, q->provider->name, out, err, way };
	int r = model_config_check(&w, options, NULL);

	return r < 0 ? r : model_config_put(&w, options);
}
