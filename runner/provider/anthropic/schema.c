/*
 * Schemas for Anthropic. The schemas of tools are sent unchanged. The service compiles the
 * schema of an answer into a grammar, which knows only a part of JSON Schema: members
 * that the grammar lacks move into the description, and the answer is checked against
 * the whole schema when it comes.
 */
#include "runner/provider/anthropic/anthropic.h"

#include "runner/syntax/json_put.h"
#include "runner/syntax/schema_copy.h"
#include "runner/wire/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* The schema of an answer */

struct narrowing {
	model_review_fn *fn; /* gets a sentence for each change; NULL: not called */
	void *arg;
	struct buf path; /* of the current schema */
};

static const char *const formats[] = {
	"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid",
};

static bool is_format(const json_t *value)
{
	const char *word = json_string_value(value);
	size_t i;

	for (i = 0; word && i < ARRAY_SIZE(formats); i++) {
		if (strcmp(word, formats[i]) == 0)
			return true;
	}
	return false;
}

static bool is_few(const json_t *value)
{
	return json_is_integer(value) && json_integer_value(value) >= 0 &&
	       json_integer_value(value) <= 1;
}

static bool is_any(const json_t *value UNUSED)
{
	return true;
}

/* Members that the grammar knows. */
static const struct known {
	const char *name;
	bool (*is)(const json_t *value);
} known[] = {
	{ "type", is_any },       { "description", is_any }, { "title", is_any },
	{ "properties", is_any }, { "required", is_any },    { "additionalProperties", is_any },
	{ "items", is_any },      { "anyOf", is_any },       { "allOf", is_any },
	{ "enum", is_any },       { "const", is_any },       { "default", is_any },
	{ "$ref", is_any },       { "$defs", is_any },       { "definitions", is_any },
	{ "format", is_format },  { "minItems", is_few },
};

static bool is_known(const char *name, const json_t *value)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		if (strcmp(name, known[i].name) == 0)
			return known[i].is(value);
	}
	return false;
}

static int tell(struct narrowing *n, const char *name, const char *what)
{
	char text[300];

	if (!n->fn)
		return 0;
	(void)snprintf(text, sizeof text, "the schema of the answer: %.*s%.64s %s",
		       (int)MIN(n->path.len, 120), buf_span(&n->path).data, name, what);
	return n->fn(n->arg, text);
}

/* Move the members that the grammar lacks into words for the description. */
static int take_out(struct narrowing *n, json_t *schema, struct buf *words)
{
	json_t *value;
	const char *name;
	void *next;
	int r = 0;

	json_object_foreach_safe(schema, next, name, value)
	{
		if (is_known(name, value))
			continue;
		if (strcmp(name, "$schema") != 0 && strcmp(name, "$id") != 0) {
			buf_printf(words, "%s%s: ", words->len ? ", " : "", name);
			r = jsonput_value(words, value);
			if (r == 0)
				r = tell(n, name,
					 "reaches anthropic only as part of the description");
		}
		if (r)
			return r;
		json_object_del(schema, name);
	}
	return 0;
}

static int describe(json_t *schema, struct buf *words)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	const char *before = json_string_value(json_object_get(schema, "description"));

	if (!words->len)
		return 0;
	if (before && *before)
		buf_printf(&text, "%s\n\n", before);
	buf_char(&text, '{');
	buf_span_add(&text, buf_span(words));
	buf_char(&text, '}');
	if (!buf_cstr(&text))
		return -ENOMEM;
	return json_object_set_new(schema, "description", json_string(text.data)) < 0 ? -ENOMEM : 0;
}

/* The grammar wants objects that have no members except those that are listed. */
static int close_object(struct narrowing *n, json_t *schema)
{
	const char *type = json_string_value(json_object_get(schema, "type"));
	const json_t *more = json_object_get(schema, "additionalProperties");
	int r = 0;

	if (!json_object_get(schema, "properties") && !(type && strcmp(type, "object") == 0))
		return 0;
	if (more && !json_is_false(more))
		r = tell(n, "additionalProperties", "is sent to anthropic as false");
	if (r)
		return r;
	return json_object_set_new(schema, "additionalProperties", json_false()) < 0 ? -ENOMEM : 0;
}

static int narrow_one(struct narrowing *n, json_t *schema)
{
	CLEANUP(buf_release) struct buf words = { 0 };
	json_t *one = json_object_get(schema, "oneOf");
	int r = 0;

	if (one && !json_object_get(schema, "anyOf"))
		r = json_object_set(schema, "anyOf", one) < 0 ? -ENOMEM
							      : json_object_del(schema, "oneOf");
	if (r == 0)
		r = take_out(n, schema, &words);
	if (r == 0)
		r = close_object(n, schema);
	return r ? r : describe(schema, &words);
}

/* Members that hold other schemas; further such members have been taken out already. */
static const char *const maps[] = { "properties", "$defs", "definitions" };
static const char *const lists[] = { "anyOf", "allOf" };

static int narrow(struct narrowing *n, json_t *schema);

/* Narrow a schema inside the current one. */
static int narrow_at(struct narrowing *n, json_t *schema, const char *member, const char *name)
{
	size_t before = n->path.len;
	int r;

	buf_printf(&n->path, "%s%s%s.", member, *name ? "." : "", name);
	r = buf_check(&n->path, NULL);
	if (r == 0)
		r = narrow(n, schema);
	n->path.len = before;
	return r;
}

static int narrow_map(struct narrowing *n, json_t *map, const char *member)
{
	const char *name;
	json_t *value;
	int r = 0;

	json_object_foreach(map, name, value)
	{
		if (r == 0)
			r = narrow_at(n, value, member, name);
	}
	return r;
}

static int narrow_list(struct narrowing *n, json_t *list, const char *member)
{
	json_t *value;
	size_t i;
	int r = 0;

	json_array_foreach(list, i, value)
	{
		char number[24];

		(void)snprintf(number, sizeof number, "%zu", i);
		if (r == 0)
			r = narrow_at(n, value, member, number);
	}
	return r;
}

/* The depth was checked when the schema was copied. */
static int narrow(struct narrowing *n, json_t *schema)
{
	size_t i;
	int r;

	if (!json_is_object(schema))
		return 0;
	r = narrow_one(n, schema);
	for (i = 0; r == 0 && i < ARRAY_SIZE(maps); i++)
		r = narrow_map(n, json_object_get(schema, maps[i]), maps[i]);
	for (i = 0; r == 0 && i < ARRAY_SIZE(lists); i++)
		r = narrow_list(n, json_object_get(schema, lists[i]), lists[i]);
	return r ? r : narrow_at(n, json_object_get(schema, "items"), "items", "");
}

static int narrowed(const json_t *schema, struct narrowing *n, json_t **out)
{
	json_auto_t *copy = NULL;
	int r = schema_copy(schema, &copy);

	if (r == 0)
		r = narrow(n, copy);
	if (r == 0)
		*out = STEAL(&copy);
	buf_release(&n->path);
	return r;
}

int anthropic_output_schema(const json_t *schema, struct buf *out)
{
	struct narrowing n = { 0 };
	json_auto_t *copy = NULL;
	int r = narrowed(schema, &n, &copy);

	return r < 0 ? r : jsonput_value(out, copy);
}

/* Reviewing */

/* The schema of a tool's input must be a plain object. */
static int review_tool(const struct model_tool *tool, model_review_fn *fn, void *arg)
{
	static const char *const choices[] = { "anyOf", "oneOf", "allOf" };
	char text[200];
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < ARRAY_SIZE(choices); i++) {
		if (!json_object_get(tool->parameters, choices[i]))
			continue;
		(void)snprintf(text, sizeof text,
			       "the parameters of '%.64s': anthropic takes no %s at the top level",
			       tool->name, choices[i]);
		r = fn(arg, text);
	}
	return r;
}

int anthropic_review(const struct question *q, model_review_fn *fn, void *arg)
{
	struct narrowing n = { .fn = fn, .arg = arg };
	const json_t *schema = model_config_schema(q);
	json_auto_t *copy = NULL;
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < q->tool_count; i++)
		r = review_tool(&q->tools[i], fn, arg);
	if (r == 0 && schema)
		r = narrowed(schema, &n, &copy);
	return r == -E2BIG ? 0 : r; /* encode() reports a schema that is too deep */
}
