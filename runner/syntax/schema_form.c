/*
 * The form of schemas: see schema_form.h. The table of keywords is at the end.
 */
#include "runner/syntax/schema_form.h"

#include "runner/syntax/schema.h"
#include "runner/syntax/schema_ref.h"
#include "runner/syntax/schema_value.h"

#include <errno.h>
#include <stdio.h>

struct form {
	const json_t *root; /* references point into it */
	struct buf *where;
	int depth;
	struct err *err;
};

struct keyword {
	const char *name;
	int (*check)(struct form *f, const json_t *arg);
};

static int check_schema(struct form *f, const json_t *schema);

/* Check a schema one level down, at a member or an item. */

static int check_below(struct form *f, const char *key, const json_t *schema)
{
	size_t base = f->where->len;
	int r;

	buf_printf(f->where, "%s%.60s", base && *key != '[' ? "." : "", key);
	r = check_schema(f, schema);
	if (r == 0)
		f->where->len = base;
	return r;
}

static int check_item(struct form *f, size_t index, const json_t *schema)
{
	char key[32];

	(void)snprintf(key, sizeof key, "[%zu]", index);
	return check_below(f, key, schema);
}

/* Arguments of keywords */

static int check_flag(struct form *f, const json_t *arg)
{
	return json_is_boolean(arg) ? 0 : err_set(f->err, -EINVAL, "must be true or false");
}

static int check_number(struct form *f, const json_t *arg)
{
	return json_is_number(arg) ? 0 : err_set(f->err, -EINVAL, "must be a number");
}

static int check_count(struct form *f, const json_t *arg)
{
	if (json_is_number(arg) && json_number_value(arg) >= 0)
		return 0;
	return err_set(f->err, -EINVAL, "must be a number of at least 0");
}

static int check_text(struct form *f, const json_t *arg)
{
	return json_is_string(arg) ? 0 : err_set(f->err, -EINVAL, "must be a text");
}

static int check_list(struct form *f, const json_t *arg)
{
	if (json_is_array(arg) && json_array_size(arg))
		return 0;
	return err_set(f->err, -EINVAL, "must be a list that is not empty");
}

static int check_texts(struct form *f, const json_t *arg)
{
	json_t *item;
	size_t i;

	json_array_foreach(arg, i, item)
	{
		if (!json_is_string(item))
			return err_set(f->err, -EINVAL, "must be a list of texts");
	}
	return json_is_array(arg) ? 0 : err_set(f->err, -EINVAL, "must be a list of texts");
}

static int check_type(struct form *f, const json_t *arg)
{
	json_t *item;
	size_t i;

	if (json_is_array(arg)) {
		json_array_foreach(arg, i, item)
		{
			int r = check_type(f, json_is_array(item) ? NULL : item);

			if (r < 0)
				return r;
		}
		return 0;
	}
	if (!json_is_string(arg))
		return err_set(f->err, -EINVAL, "must be a text or a list of texts");
	if (!schema_type_find(arg))
		return err_set(f->err, -EINVAL, "there is no type '%.60s'", json_string_value(arg));
	return 0;
}

static int check_ref(struct form *f, const json_t *arg)
{
	const char *ref = json_string_value(arg);
	const json_t *named;
	int r;

	if (!ref)
		return err_set(f->err, -EINVAL, "must be a text");
	r = schema_find_ref(f->root, ref, NULL, &named);
	if (r == -ENOMEM)
		return err_nomem(f->err);
	return r < 0 ? err_set(f->err, -EINVAL, "the schema has no %.100s", ref) : 0;
}

/* Schemas inside of schemas */

static int check_schemas(struct form *f, const json_t *arg)
{
	json_t *schema;
	size_t i;
	int r = check_list(f, arg);

	json_array_foreach(arg, i, schema)
	{
		if (r == 0)
			r = check_item(f, i, schema);
	}
	return r;
}

static int check_items(struct form *f, const json_t *arg)
{
	return json_is_array(arg) ? check_schemas(f, arg) : check_schema(f, arg);
}

static int check_map(struct form *f, const json_t *arg)
{
	const char *key;
	json_t *schema;

	if (!json_is_object(arg))
		return err_set(f->err, -EINVAL, "must be an object of schemas");
	/* jansson's loop wants a mutable object, but does not change it */
	json_object_foreach((json_t *)arg, key, schema)
	{
		int r = check_below(f, key, schema);

		if (r < 0)
			return r;
	}
	return 0;
}

static const struct keyword keywords[] = {
	{ "$ref", check_ref },
	{ "$defs", check_map },
	{ "definitions", check_map },
	{ "type", check_type },
	{ "nullable", check_flag },
	{ "enum", check_list },
	{ "required", check_texts },
	{ "properties", check_map },
	{ "additionalProperties", check_schema },
	{ "prefixItems", check_schemas },
	{ "items", check_items },
	{ "minItems", check_count },
	{ "maxItems", check_count },
	{ "uniqueItems", check_flag },
	{ "minLength", check_count },
	{ "maxLength", check_count },
	{ "pattern", check_text },
	{ "minimum", check_number },
	{ "maximum", check_number },
	{ "exclusiveMinimum", check_number },
	{ "exclusiveMaximum", check_number },
	{ "multipleOf", check_number },
	{ "anyOf", check_schemas },
	{ "oneOf", check_schemas },
	{ "allOf", check_schemas },
	{ "not", check_schema },
};

static int check_keyword(struct form *f, const struct keyword *k, const json_t *arg)
{
	size_t base = f->where->len;
	int r;

	buf_printf(f->where, "%s%s", base ? "." : "", k->name);
	r = k->check(f, arg);
	if (r == 0)
		f->where->len = base;
	return r;
}

static int check_schema(struct form *f, const json_t *schema)
{
	size_t i;
	int r = 0;

	if (json_is_boolean(schema))
		return 0;
	if (!json_is_object(schema))
		return err_set(f->err, -EINVAL, "must be a schema");
	if (f->depth == SCHEMA_DEPTH_MAX)
		return err_set(f->err, -EINVAL, "is nested more than %d levels deep",
			       SCHEMA_DEPTH_MAX);
	f->depth++;
	for (i = 0; i < ARRAY_SIZE(keywords) && r == 0; i++) {
		const json_t *arg = json_object_get(schema, keywords[i].name);

		if (arg)
			r = check_keyword(f, &keywords[i], arg);
	}
	f->depth--;
	return r;
}

int schema_form_check(const json_t *schema, struct buf *where, struct err *err)
{
	struct form f = { .root = schema, .where = where, .err = err };
	int r = check_schema(&f, schema);

	return where->failed ? err_nomem(err) : r;
}
