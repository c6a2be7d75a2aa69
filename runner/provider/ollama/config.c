/*
 * generate_content_config for Ollama: a row per member. Most members go into "options",
 * the others into the request itself.
 */
#include "runner/provider/ollama/ollama.h"

#include "runner/syntax/json_put.h"
#include "runner/wire/config.h"

#include <errno.h>
#include <strings.h>

static int put_format(const struct model_config *w, const struct model_option *o,
		      const json_t *value)
{
	return model_config_put_schema(w, o, value, "", "");
}

static int put_mime(const struct model_config *w, const struct model_option *o,
		    const json_t *value UNUSED)
{
	return model_config_put_json(w, o, SPAN("\"json\""));
}

static const struct level {
	const char *level; /* thinkingLevel */
	const char *think;
} levels[] = {
	{ "LOW", "\"low\"" },
	{ "MEDIUM", "\"medium\"" },
	{ "HIGH", "\"high\"" },
	{ "MAX", "\"max\"" },
	{ "THINKING_LEVEL_UNSPECIFIED", NULL },
};

static int find_level(const struct model_config *w, const struct model_option *o, const char *word,
		      const char **think)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(levels); i++) {
		if (strcasecmp(levels[i].level, word) == 0) {
			*think = levels[i].think;
			return 0;
		}
	}
	return model_option_bad(w, o->name, "the thinkingLevel is not LOW, MEDIUM, HIGH or MAX");
}

/* A budget can only say whether to think: 0 is no, and -1 is yes. */
static int find_budget(const struct model_config *w, const struct model_option *o,
		       const json_t *budget, const char **think)
{
	if (json_number_value(budget) == 0)
		*think = "false";
	else if (json_number_value(budget) == -1)
		*think = "true";
	else
		return model_option_bad(w, o->name,
					OLLAMA_NAME " takes a thinkingLevel, or a budget of 0 "
						    "or -1");
	return 0;
}

/* Write `think` only if the agent asks for it: models that cannot think refuse it. */
static int put_thinking(const struct model_config *w, const struct model_option *o,
			const json_t *value)
{
	const char *word = json_string_value(json_object_get(value, "thinkingLevel"));
	const json_t *budget = json_object_get(value, "thinkingBudget");
	const char *think = NULL;
	int r = 0;

	if (json_is_number(budget))
		r = find_budget(w, o, budget, &think);
	if (r == 0 && word)
		r = find_level(w, o, word, &think);
	if (r == 0 && !think && json_is_true(json_object_get(value, "includeThoughts")))
		think = "true";
	if (r == 0 && think)
		jsonput_raw(w->out, o->wire, span_of(think));
	return r;
}

/* The choice decides whether tools are written; here it is only checked. */
static int put_tool_choice(const struct model_config *w, const struct model_option *o UNUSED,
			   const json_t *value UNUSED)
{
	bool may;

	return ollama_may_call(w->q, &may, w->err);
}

static const struct model_option options[] = {
	{ "temperature", "temperature", model_option_number },
	{ "topP", "top_p", model_option_number },
	{ "topK", "top_k", model_option_integer },
	{ "maxOutputTokens", "num_predict", model_option_integer },
	{ "stopSequences", "stop", model_option_json },
	{ "seed", "seed", model_option_integer },
	{ "presencePenalty", "presence_penalty", model_option_number },
	{ "frequencyPenalty", "frequency_penalty", model_option_number },
	{ 0 },
};

static const struct model_option members[] = {
	{ "candidateCount", NULL, model_option_one },
	{ "responseLogprobs", NULL, model_option_off },
	{ "responseMimeType", "format", put_mime },
	{ "responseJsonSchema", "format", put_format },
	{ "thinkingConfig", "think", put_thinking },
	{ "toolConfig", NULL, put_tool_choice },
	{ "httpOptions", NULL, model_option_extra },
	{ 0 },
};

static int put_options(const struct model_config *w, const json_t *extra)
{
	CLEANUP(buf_release) struct buf out = { 0 };
	struct model_config inner = *w;
	int r;

	inner.out = &out;
	buf_char(&out, '{');
	r = model_config_put(&inner, options);
	if (r == 0)
		r = model_config_put_extra(&inner, options, extra, NULL);
	buf_char(&out, '}');
	if (r == 0 && out.len > 2)
		jsonput_raw(w->out, "options", buf_span(&out));
	return r < 0 ? r : buf_check(&out, w->err);
}

int ollama_config(const struct question *q, struct buf *out, struct err *err)
{
	static const char *const own[] = { "model", "messages", "tools", "stream", NULL };
	const struct model_config w = { q, OLLAMA_NAME, out, err, NULL };
	json_auto_t *extra = json_copy((json_t *)model_config_extra(q)); /* shallow */
	json_t *more = json_incref(json_object_get(extra, "options"));
	int r = model_config_extra(q) && !extra ? err_nomem(err)
						: model_config_check(&w, options, members);

	(void)json_object_del(extra, "options");
	if (r == 0 && more && !json_is_object(more))
		r = model_option_bad(&w, "httpOptions", "extraBody.options is not a mapping");
	if (r == 0)
		r = model_config_put(&w, members);
	if (r == 0)
		r = put_options(&w, more);
	if (r == 0)
		r = model_config_put_extra(&w, members, extra, own);
	json_decref(more);
	return r;
}

int ollama_may_call(const struct question *q, bool *may, struct err *err)
{
	const struct model_config w = { q, OLLAMA_NAME, NULL, err, NULL };
	struct model_tool_choice choice;
	int r = model_config_choice(&w, &choice);

	if (r < 0)
		return r;
	*may = choice.mode != MODEL_CHOICE_NONE;
	if (choice.mode == MODEL_CHOICE_ANY || (*may && choice.allowed))
		return model_option_bad(&w, "toolConfig",
					OLLAMA_NAME " lets the model choose: only AUTO and NONE "
						    "can be sent");
	return 0;
}
