/*
 * generate_content_config for OpenAI chat completions: a row per member.
 *
 * A member without a row has no counterpart there and is refused: an agent
 * that asks for something must not silently run without it.
 */
#include "runner/model_openai.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <strings.h>

#define STOP_MAX         4
#define SCHEMA_DEPTH_MAX 64

struct writer {
	const struct model_request *rq;
	const char *max_tokens;
	struct buf *out;
	struct err *err;
};

struct option {
	const char *name; /* in generate_content_config */
	const char *wire; /* in the request */
	int (*put)(const struct writer *w, const struct option *o, const json_t *value);
};

static int bad_value(const struct writer *w, const char *name, const char *wanted)
{
	return err_set(w->err, -EINVAL, "generate_content_config: %s: %s", name, wanted);
}

/* Numbers keep the digits people write: 0.7, not 0.69999999999999996. */
static int put_json(struct buf *out, const json_t *value)
{
	char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));

	if (!text)
		return -ENOMEM;
	buf_text(out, text);
	free(text);
	return buf_check(out, NULL);
}

static int put_number(const struct writer *w, const struct option *o, const json_t *value)
{
	if (!json_is_number(value))
		return bad_value(w, o->name, "is not a number");
	openai_key(w->out, o->wire);
	return put_json(w->out, value);
}

static int put_integer(const struct writer *w, const struct option *o, const json_t *value)
{
	double number = json_number_value(value);

	if (!json_is_number(value) || number != trunc(number) || fabs(number) > 1e15)
		return bad_value(w, o->name, "is not a whole number");
	openai_key(w->out, o->wire);
	buf_printf(w->out, "%.0f", number);
	return 0;
}

static int put_max_tokens(const struct writer *w, const struct option *o, const json_t *value)
{
	const struct option named = { o->name, w->max_tokens, NULL };

	return put_integer(w, &named, value);
}

static int put_stop(const struct writer *w, const struct option *o, const json_t *value)
{
	if (!json_is_array(value) || json_array_size(value) > STOP_MAX)
		return bad_value(w, o->name, "openai takes a list of up to 4 texts");
	if (!json_array_size(value))
		return 0;
	openai_key(w->out, o->wire);
	return put_json(w->out, value);
}

static int check_one(const struct writer *w, const struct option *o, const json_t *value)
{
	return json_number_value(value) == 1 ? 0 : bad_value(w, o->name, "can only be 1");
}

static int check_off(const struct writer *w, const struct option *o, const json_t *value)
{
	return json_is_false(value) ? 0 : bad_value(w, o->name, "is not supported with openai");
}

/* Where in a schema other schemas are. */
enum schema_place { SCHEMA_ONE, SCHEMA_LIST, SCHEMA_MAP };

static const struct schema_member {
	const char *name;
	enum schema_place place;
} schema_members[] = {
	{ "properties", SCHEMA_MAP },   { "patternProperties", SCHEMA_MAP },
	{ "$defs", SCHEMA_MAP },        { "definitions", SCHEMA_MAP },
	{ "items", SCHEMA_ONE },        { "additionalProperties", SCHEMA_ONE },
	{ "not", SCHEMA_ONE },          { "anyOf", SCHEMA_LIST },
	{ "oneOf", SCHEMA_LIST },       { "allOf", SCHEMA_LIST },
	{ "prefixItems", SCHEMA_LIST },
};

static int lower_word(json_t *word)
{
	char *text = strdup(json_string_value(word));
	char *p;
	int r;

	if (!text)
		return -ENOMEM;
	for (p = text; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	r = json_string_set(word, text);
	free(text);
	return r < 0 ? -ENOMEM : 0;
}

/* "STRING", or a list of such words. */
static int lower_type(json_t *type)
{
	size_t i;
	int r = json_is_string(type) ? lower_word(type) : 0;

	for (i = 0; r == 0 && i < json_array_size(type); i++)
		r = lower_type(json_array_get(type, i));
	return r;
}

static int lower_types(json_t *schema, int depth);

static int lower_member(json_t *member, enum schema_place place, int depth)
{
	const char *key;
	json_t *value;
	size_t i;
	int r = place == SCHEMA_ONE ? lower_types(member, depth) : 0;

	json_array_foreach(member, i, value)
	{
		if (r == 0)
			r = lower_types(value, depth);
	}
	if (place != SCHEMA_MAP)
		return r;
	json_object_foreach(member, key, value)
	{
		if (r == 0)
			r = lower_types(value, depth);
	}
	return r;
}

static int lower_types(json_t *schema, int depth)
{
	size_t i;
	int r;

	if (!json_is_object(schema))
		return 0;
	if (!depth)
		return -E2BIG;
	r = lower_type(json_object_get(schema, "type"));
	for (i = 0; r == 0 && i < ARRAY_SIZE(schema_members); i++) {
		const struct schema_member *m = &schema_members[i];

		r = lower_member(json_object_get(schema, m->name), m->place, depth - 1);
	}
	return r;
}

int openai_schema(const json_t *schema, struct buf *out)
{
	json_auto_t *copy = json_deep_copy(schema);
	int r = copy ? lower_types(copy, SCHEMA_DEPTH_MAX) : -ENOMEM;

	return r < 0 ? r : put_json(out, copy);
}

static int put_schema(const struct writer *w, const struct option *o, const json_t *value)
{
	int r;

	if (!json_is_object(value))
		return bad_value(w, o->name, "is not an object");
	openai_key(w->out, o->wire);
	buf_text(w->out, "{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"response\","
			 "\"schema\":");
	r = openai_schema(value, w->out);
	buf_text(w->out, "}}");
	return r == -E2BIG ? bad_value(w, o->name, "is nested too deeply") : r;
}

/* With a schema the form of the answer is said there. */
static int put_mime(const struct writer *w, const struct option *o, const json_t *value)
{
	const char *mime = json_is_string(value) ? json_string_value(value) : "";

	if (strcasecmp(mime, "text/plain") == 0)
		return 0;
	if (strcasecmp(mime, "application/json") != 0)
		return bad_value(w, o->name, "openai gives text/plain or application/json");
	if (json_is_object(json_object_get(w->rq->config, "responseJsonSchema")))
		return 0;
	openai_key(w->out, o->wire);
	buf_text(w->out, "{\"type\":\"json_object\"}");
	return 0;
}

static const struct tool_mode {
	const char *mode;
	const char *choice;
} tool_modes[] = {
	{ "AUTO", "auto" },      { "MODE_UNSPECIFIED", "auto" },
	{ "VALIDATED", "auto" }, { "ANY", "required" },
	{ "NONE", "none" },
};

static const char *tool_choice(const char *mode)
{
	size_t i;

	for (i = 0; mode && i < ARRAY_SIZE(tool_modes); i++) {
		if (strcasecmp(tool_modes[i].mode, mode) == 0)
			return tool_modes[i].choice;
	}
	return mode ? NULL : "auto";
}

static int put_function_choice(const struct writer *w, const json_t *names)
{
	CLEANUP(buf_release) struct buf name = { 0 };
	const char *wanted = json_string_value(json_array_get(names, 0));
	int r;

	if (json_array_size(names) != 1 || !wanted)
		return bad_value(w, "toolConfig", "openai takes one allowedFunctionNames only");
	r = openai_name_encode(wanted, &name, w->err);
	if (r < 0)
		return r;
	buf_printf(w->out, "{\"type\":\"function\",\"function\":{\"name\":\"%.*s\"}}",
		   (int)name.len, name.data);
	return 0;
}

/* A choice without tools is an error of the service. */
static int put_tool_choice(const struct writer *w, const struct option *o, const json_t *value)
{
	const json_t *calling = json_object_get(value, "functionCallingConfig");
	const json_t *names = json_object_get(calling, "allowedFunctionNames");
	const char *choice = tool_choice(json_string_value(json_object_get(calling, "mode")));

	if (!choice)
		return bad_value(w, o->name, "the mode is not AUTO, ANY or NONE");
	if (!w->rq->tool_count)
		return 0;
	openai_key(w->out, o->wire);
	if (json_array_size(names))
		return put_function_choice(w, names);
	buf_printf(w->out, "\"%s\"", choice);
	return 0;
}

/* Thoughts are shown whenever they come; how many there are is the level. */
static int put_thinking(const struct writer *w, const struct option *o, const json_t *value)
{
	const char *word = json_string_value(json_object_get(value, "thinkingLevel"));
	size_t i;

	if (json_is_number(json_object_get(value, "thinkingBudget")))
		return bad_value(w, o->name, "openai takes a thinkingLevel, not a budget");
	if (!word || strcasecmp(word, "THINKING_LEVEL_UNSPECIFIED") == 0)
		return 0;
	openai_key(w->out, o->wire);
	buf_char(w->out, '"');
	for (i = 0; isalpha((unsigned char)word[i]); i++)
		buf_char(w->out, (char)tolower((unsigned char)word[i]));
	buf_char(w->out, '"');
	return word[i] ? bad_value(w, o->name, "the thinkingLevel is not a word") : 0;
}

static const struct option options[] = {
	{ "temperature", "temperature", put_number },
	{ "topP", "top_p", put_number },
	{ "maxOutputTokens", NULL, put_max_tokens },
	{ "stopSequences", "stop", put_stop },
	{ "seed", "seed", put_integer },
	{ "presencePenalty", "presence_penalty", put_number },
	{ "frequencyPenalty", "frequency_penalty", put_number },
	{ "candidateCount", NULL, check_one },
	{ "responseLogprobs", NULL, check_off },
	{ "responseMimeType", "response_format", put_mime },
	{ "responseJsonSchema", "response_format", put_schema },
	{ "toolConfig", "tool_choice", put_tool_choice },
	{ "thinkingConfig", "reasoning_effort", put_thinking },
};

static int put_option(const struct writer *w, const char *name, const json_t *value)
{
	size_t i;

	if (json_is_null(value))
		return 0;
	for (i = 0; i < ARRAY_SIZE(options); i++) {
		if (strcmp(options[i].name, name) == 0)
			return options[i].put(w, &options[i], value);
	}
	return bad_value(w, name, "has no counterpart with openai");
}

int openai_config(const struct model_request *rq, const char *max_tokens, struct buf *out,
		  struct err *err)
{
	const struct writer w = { rq, max_tokens, out, err };
	json_t *config = (json_t *)rq->config; /* json_object_foreach takes no const */
	const char *name;
	json_t *value;

	json_object_foreach(config, name, value)
	{
		int r = put_option(&w, name, value);

		if (r < 0)
			return r == -ENOMEM ? err_nomem(err) : r;
	}
	return buf_check(out, err);
}
