/*
 * JSON Schemas for providers: see schema_copy.h.
 */
#include "runner/syntax/schema_copy.h"

#include "runner/syntax/json_put.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

/* Members of a schema that hold other schemas: one, a list of them, or an object. */
enum place { PLACE_ONE, PLACE_LIST, PLACE_MAP };

static const struct member {
	const char *name;
	enum place place;
} members[] = {
	{ "properties", PLACE_MAP },   { "patternProperties", PLACE_MAP },
	{ "$defs", PLACE_MAP },        { "definitions", PLACE_MAP },
	{ "items", PLACE_ONE },        { "additionalProperties", PLACE_ONE },
	{ "not", PLACE_ONE },          { "anyOf", PLACE_LIST },
	{ "oneOf", PLACE_LIST },       { "allOf", PLACE_LIST },
	{ "prefixItems", PLACE_LIST },
};

struct walk {
	schema_fn *fn;
	void *arg;
};

static int walk_schema(const struct walk *w, json_t *schema, int depth);

static int walk_member(const struct walk *w, json_t *member, enum place place, int depth)
{
	const char *key;
	json_t *value;
	size_t i;
	int r = place == PLACE_ONE ? walk_schema(w, member, depth) : 0;

	json_array_foreach(member, i, value)
	{
		if (r == 0)
			r = walk_schema(w, value, depth);
	}
	if (place != PLACE_MAP)
		return r;
	json_object_foreach(member, key, value)
	{
		if (r == 0)
			r = walk_schema(w, value, depth);
	}
	return r;
}

static int walk_schema(const struct walk *w, json_t *schema, int depth)
{
	size_t i;
	int r;

	if (!json_is_object(schema))
		return 0;
	if (!depth)
		return -E2BIG;
	r = w->fn(w->arg, schema);
	for (i = 0; r == 0 && i < ARRAY_SIZE(members); i++)
		r = walk_member(w, json_object_get(schema, members[i].name), members[i].place,
				depth - 1);
	return r;
}

int schema_each(json_t *schema, schema_fn *fn, void *arg)
{
	const struct walk w = { fn, arg };

	return walk_schema(&w, schema, SCHEMA_COPY_DEPTH);
}

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

static int lower_types(void *arg UNUSED, json_t *schema)
{
	return lower_type(json_object_get(schema, "type"));
}

int schema_copy(const json_t *schema, json_t **out)
{
	json_auto_t *copy = json_deep_copy(schema);
	int r = copy ? schema_each(copy, lower_types, NULL) : -ENOMEM;

	if (r == 0)
		*out = STEAL(&copy);
	return r;
}

int schema_copy_put(const json_t *schema, struct buf *out)
{
	json_auto_t *copy = NULL;
	int r = schema_copy(schema, &copy);

	return r < 0 ? r : jsonput_value(out, copy);
}

/* Give a schema a member, unless it has one of that name. Steals the value. */
static int add_member(json_t *schema, const char *name, json_t *value)
{
	if (!json_object_get(schema, name))
		return json_object_set_new(schema, name, value) < 0 ? -ENOMEM : 0;
	json_decref(value);
	return 0;
}

int schema_copy_put_object(const json_t *schema, struct buf *out)
{
	json_auto_t *copy = NULL;
	int r = schema ? schema_copy(schema, &copy) : 0;

	if (r == 0 && !schema)
		copy = json_object();
	if (r < 0)
		return r;
	r = add_member(copy, "type", json_string("object"));
	if (r == 0)
		r = add_member(copy, "properties", json_object());
	return r < 0 ? r : jsonput_value(out, copy);
}
