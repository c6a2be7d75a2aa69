/*
 * generate_content_config for Anthropic messages: a row per member.
 */
#include "runner/provider/anthropic/anthropic.h"

#include "runner/syntax/json_put.h"
#include "runner/wire/config.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <strings.h>

#define MAX_TOKENS  8192    /* of an answer, unless set */
#define MAX_SETTING 1000000 /* the largest value of the setting */
#define BUDGET_MIN  1024    /* tokens of thinking; the service's own limit */
#define BUDGET_FREE -1      /* the model decides */
#define MORE        "httpOptions"

/* The thinking that thinkingConfig asks for. */
struct thinking {
	long long budget;   /* of tokens; 0: no thinking; BUDGET_FREE */
	bool has_budget;    /* a budget is set, or the thoughts must be shown */
	const json_t *show; /* includeThoughts, or NULL */
	const char *effort; /* NULL: not set */
};

static const struct {
	const char *level;
	const char *effort;
} efforts[] = {
	{ "MINIMAL", "low" }, { "LOW", "low" },     { "MEDIUM", "medium" },
	{ "HIGH", "high" },   { "XHIGH", "xhigh" }, { "MAX", "max" },
};

static int read_effort(const struct model_config *w, const char *level, const char **effort)
{
	size_t i;

	if (!level || strcasecmp(level, "THINKING_LEVEL_UNSPECIFIED") == 0)
		return 0;
	for (i = 0; i < ARRAY_SIZE(efforts); i++) {
		if (strcasecmp(level, efforts[i].level) == 0) {
			*effort = efforts[i].effort;
			return 0;
		}
	}
	return model_option_bad(
		w, "thinkingConfig",
		"the thinkingLevel is not MINIMAL, LOW, MEDIUM, HIGH, XHIGH or MAX");
}

static int read_thinking(const struct model_config *w, struct thinking *t)
{
	const json_t *config = json_object_get(w->q->config, "thinkingConfig");
	const json_t *budget = json_object_get(config, "thinkingBudget");

	*t = (struct thinking){ .budget = BUDGET_FREE };
	t->show = json_object_get(config, "includeThoughts");
	t->has_budget = json_is_integer(budget) || json_is_true(t->show);
	if (json_is_integer(budget))
		t->budget = json_integer_value(budget);
	else if (budget && !json_is_null(budget))
		t->budget = LLONG_MIN;
	if (t->budget < BUDGET_FREE || (t->budget > 0 && t->budget < BUDGET_MIN))
		return model_option_bad(
			w, "thinkingConfig",
			"anthropic takes a thinkingBudget of 1024 or more, 0 for none, or "
			"-1 to let the model decide");
	return read_effort(w, json_string_value(json_object_get(config, "thinkingLevel")),
			   &t->effort);
}

static int put_thinking(const struct model_config *w, const struct model_option *o,
			const json_t *value UNUSED)
{
	struct thinking t;
	int r = read_thinking(w, &t);

	if (r < 0 || !t.has_budget)
		return r;
	jsonput_key(w->out, o->wire);
	if (t.budget == 0) {
		buf_text(w->out, "{\"type\":\"disabled\"}");
		return 0;
	}
	buf_text(w->out, t.budget > 0 ? "{\"type\":\"enabled\"" : "{\"type\":\"adaptive\"");
	if (t.budget > 0)
		buf_printf(w->out, ",\"budget_tokens\":%lld", t.budget);
	/* Newer models show the text only if they are asked; older models know no `display`. */
	if (json_is_false(t.show))
		jsonput_text(w->out, "display", SPAN("omitted"));
	else if (json_is_true(t.show) && t.budget < 0)
		jsonput_text(w->out, "display", SPAN("summarized"));
	buf_char(w->out, '}');
	return 0;
}

/* The service requires max_tokens. */

static int default_max(const struct model_config *w, long long *out)
{
	const char *text = settings_get(w->q->settings, ANTHROPIC_SETTING_MAX_TOKENS);
	char *end;

	*out = MAX_TOKENS;
	if (!text)
		return 0;
	errno = 0;
	*out = strtoll(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || *out < 1 || *out > MAX_SETTING)
		return err_set(w->err, -EINVAL, "%s is not a number from 1 to %d",
			       ANTHROPIC_SETTING_MAX_TOKENS, MAX_SETTING);
	return 0;
}

/* Whether the beta is on in which the budget covers all thinking between calls of tools. */
static bool is_interleaved(const struct model_config *w)
{
	const char *betas = settings_get(w->q->settings, ANTHROPIC_SETTING_BETAS);

	return betas && strstr(betas, "interleaved-thinking");
}

/* Thoughts count as tokens: if the agent sets no limit, the budget is added. */
static int put_max(const struct model_config *w)
{
	static const struct model_option row = { "maxOutputTokens", "max_tokens", NULL };
	const json_t *limit = json_object_get(w->q->config, row.name);
	struct thinking t;
	long long max;
	int r = read_thinking(w, &t);

	if (r < 0)
		return r;
	if (!limit || json_is_null(limit)) {
		r = default_max(w, &max);
		jsonput_key(w->out, row.wire);
		buf_printf(w->out, "%lld", max + (t.budget > 0 ? t.budget : 0));
		return r;
	}
	if (t.budget > 0 && (double)t.budget >= json_number_value(limit) && !is_interleaved(w))
		return model_option_bad(w, "thinkingConfig",
					"the thinkingBudget must be below maxOutputTokens");
	return model_option_integer(w, &row, limit);
}

static int put_stop(const struct model_config *w, const struct model_option *o, const json_t *value)
{
	if (!json_is_array(value))
		return model_option_bad(w, o->name, "is not a list");
	return json_array_size(value) ? model_option_json(w, o, value) : 0;
}

/* The service gives JSON only by a schema. */
static int check_mime(const struct model_config *w, const struct model_option *o,
		      const json_t *value UNUSED)
{
	bool json;
	int r = model_config_mime(w, &json);

	if (r < 0 || !json || model_config_schema(w->q))
		return r;
	return model_option_bad(w, o->name,
				"anthropic needs a responseJsonSchema or an output_schema for "
				"application/json");
}

/* The service refuses a choice without tools. */
static int put_tool_choice(const struct model_config *w, const struct model_option *o,
			   const json_t *value UNUSED)
{
	static const char *const words[] = { [MODEL_CHOICE_AUTO] = "auto",
					     [MODEL_CHOICE_ANY] = "any",
					     [MODEL_CHOICE_NONE] = "none" };
	CLEANUP(buf_release) struct buf name = { 0 };
	struct model_tool_choice choice;
	int r = model_config_choice(w, &choice);

	if (r < 0 || !w->q->tool_count)
		return r;
	if (choice.allowed && choice.mode != MODEL_CHOICE_ANY)
		return model_option_bad(w, o->name, "allowedFunctionNames need the mode ANY");
	if (choice.allowed && !choice.only)
		return model_option_bad(w, o->name,
					"anthropic takes only one name in allowedFunctionNames");
	if (choice.only)
		r = model_name_encode(&anthropic_names, choice.only, &name, w->err);
	jsonput_key(w->out, o->wire);
	buf_char(w->out, '{');
	jsonput_text(w->out, "type", span_of(choice.only ? "tool" : words[choice.mode]));
	if (choice.only)
		jsonput_text(w->out, "name", buf_span(&name));
	buf_char(w->out, '}');
	return r;
}

/* Write output_config, which two rows decide. */
static int put_output(const struct model_config *w)
{
	const json_t *schema = model_config_schema(w->q);
	struct thinking t;
	int r = read_thinking(w, &t);

	if (r < 0 || (!schema && !t.effort))
		return r;
	jsonput_key(w->out, "output_config");
	buf_char(w->out, '{');
	if (t.effort)
		jsonput_text(w->out, "effort", span_of(t.effort));
	if (schema) {
		jsonput_key(w->out, "format");
		buf_text(w->out, "{\"type\":\"json_schema\",\"schema\":");
		r = anthropic_output_schema(schema, w->out);
		buf_char(w->out, '}');
	}
	buf_char(w->out, '}');
	return r == -E2BIG ? model_option_bad(w, "responseJsonSchema", "is nested too deeply") : r;
}

static const struct model_option options[] = {
	{ "temperature", "temperature", model_option_number },
	{ "topP", "top_p", model_option_number },
	{ "topK", "top_k", model_option_integer },
	{ "maxOutputTokens", "max_tokens", model_option_ignore },
	{ "stopSequences", "stop_sequences", put_stop },
	{ "candidateCount", NULL, model_option_one },
	{ "responseLogprobs", NULL, model_option_off },
	{ "responseMimeType", NULL, check_mime },
	{ "responseJsonSchema", "output_config", model_option_ignore },
	{ "toolConfig", "tool_choice", put_tool_choice },
	{ "thinkingConfig", "thinking", put_thinking },
	{ MORE, NULL, model_option_extra },
	{ 0 },
};

/* Members of the request that are always written. */
static const char *const own[] = {
	"model", "stream", "system", "messages", "tools", "max_tokens", NULL,
};

/* The effort is in output_config, so extraBody cannot have that member. */
static int check_effort(const struct model_config *w, const json_t *extra)
{
	struct thinking t;
	int r = read_thinking(w, &t);

	if (r < 0 || !t.effort || !json_object_get(extra, "output_config"))
		return r;
	return model_option_bad(w, MORE, "output_config is in the request already");
}

int anthropic_config(const struct question *q, struct buf *out, struct err *err)
{
	const struct model_config w = { q, anthropic_names.provider, out, err, NULL };
	const json_t *extra = model_config_extra(q);
	int r = model_config_check(&w, options, NULL);

	if (r == 0)
		r = put_max(&w);
	if (r == 0)
		r = model_config_put(&w, options);
	if (r == 0)
		r = put_output(&w);
	if (r == 0)
		r = check_effort(&w, extra);
	return r < 0 ? r : model_config_put_extra(&w, options, extra, own);
}
