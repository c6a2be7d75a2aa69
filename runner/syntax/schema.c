/*
 * JSON Schema: see schema.h. The table of keywords is at the end.
 */
#include "runner/syntax/schema.h"

#include "base/clock.h"
#include "runner/syntax/pattern.h"
#include "runner/syntax/schema_ref.h"
#include "runner/syntax/schema_value.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct check {
	const json_t *root; /* references point into it */
	unsigned steps;     /* left */
	uint64_t patterns;  /* processor time left for patterns, ns */
};

/* A value, the schema that it must fit, and the way to it. */
struct subject {
	struct check *check;
	const json_t *schema;
	const json_t *value;
	const struct subject *up;
	const char *key; /* NULL: an item, or with NO_INDEX the same place as `up` */
	size_t index;
	int depth;
	struct err *err;
};

#define NO_INDEX SIZE_MAX

static int check_subject(struct subject *s);

/* Errors */

static void write_path(const struct subject *s, struct buf *out)
{
	if (s->up)
		write_path(s->up, out);
	if (s->key)
		buf_printf(out, "%s%.60s", out->len ? "." : "", s->key);
	else if (s->index != NO_INDEX)
		buf_printf(out, "[%zu]", s->index);
}

static int say_misfit(const struct subject *s, const char *fmt, ...) PRINTF(2, 3);

static int say_misfit(const struct subject *s, const char *fmt, ...)
{
	CLEANUP(buf_release) struct buf path = { 0 };
	char text[160];
	va_list args;

	if (!s->err)
		return -EINVAL;
	va_start(args, fmt);
	(void)vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	write_path(s, &path);
	return err_set(s->err, -EINVAL, "%.*s%s%s", (int)MIN(path.len, 90), buf_span(&path).data,
		       path.len ? ": " : "", text);
}

/* The way down */

static struct subject member_of(const struct subject *s, const json_t *schema, const char *key,
				const json_t *value)
{
	return (struct subject){ .check = s->check,
				 .schema = schema,
				 .value = value,
				 .up = s,
				 .key = key,
				 .index = NO_INDEX,
				 .depth = s->depth + 1,
				 .err = s->err };
}

static struct subject item_of(const struct subject *s, const json_t *schema, size_t index)
{
	struct subject item = member_of(s, schema, NULL, json_array_get(s->value, index));

	item.index = index;
	return item;
}

/* Check the same value against another schema. */
static struct subject same_value(const struct subject *s, const json_t *schema)
{
	return member_of(s, schema, NULL, s->value);
}

/* Try the same value against another schema: a misfit is no error. */
static int try_schema(const struct subject *s, const json_t *schema)
{
	struct subject other = same_value(s, schema);

	other.err = NULL;
	return check_subject(&other);
}

static int take_step(const struct subject *s)
{
	if (s->depth > SCHEMA_DEPTH_MAX || !s->check->steps)
		return say_misfit(s, "cannot be checked: the schema asks for too many steps");
	s->check->steps--;
	return 0;
}

/* type, enum, const */

/* Whether a value fits one type of a list. An unknown name is ignored, and so fits. */
static bool fits_a_type(const json_t *names, const json_t *value)
{
	json_t *name;
	size_t i;

	json_array_foreach(names, i, name)
	{
		const struct schema_type *type = schema_type_find(name);

		if (!type || schema_type_fits(type, value))
			return true;
	}
	return !json_array_size(names);
}

static int check_type(const struct subject *s, const json_t *arg)
{
	const struct schema_type *type = schema_type_find(arg);

	if (json_is_array(arg) && !fits_a_type(arg, s->value))
		return say_misfit(s, "has the wrong type: %s", schema_type_of(s->value)->say);
	if (type && !schema_type_fits(type, s->value))
		return say_misfit(s, "must be %s, not %s", type->say,
				  schema_type_of(s->value)->say);
	return 0;
}

static int not_one_of(const struct subject *s, const char *say, const json_t *arg)
{
	char *text = json_dumps(arg, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
	int r;

	if (!text)
		return err_nomem(s->err);
	r = say_misfit(s, "%s %.110s", say, text);
	free(text);
	return r;
}

static int check_enum(const struct subject *s, const json_t *arg)
{
	json_t *choice;
	size_t i;

	if (!json_is_array(arg))
		return 0;
	json_array_foreach(arg, i, choice)
	{
		if (schema_same(choice, s->value))
			return 0;
	}
	return not_one_of(s, "must be one of", arg);
}

static int check_const(const struct subject *s, const json_t *arg)
{
	return schema_same(arg, s->value) ? 0 : not_one_of(s, "must be", arg);
}

/* Objects */

static int check_required(const struct subject *s, const json_t *arg)
{
	json_t *name;
	size_t i;

	if (!json_is_object(s->value))
		return 0;
	json_array_foreach(arg, i, name)
	{
		const char *key = json_string_value(name);

		if (key && !json_object_get(s->value, key)) {
			struct subject missing = member_of(s, NULL, key, NULL);

			return say_misfit(&missing, "is missing");
		}
	}
	return 0;
}

static int check_properties(const struct subject *s, const json_t *arg)
{
	const char *key;
	json_t *value;

	if (!json_is_object(s->value) || !json_is_object(arg))
		return 0;
	/* jansson's loop wants a mutable object, but does not change it */
	json_object_foreach((json_t *)s->value, key, value)
	{
		const json_t *schema = json_object_get(arg, key);
		struct subject member = member_of(s, schema, key, value);
		int r = schema ? check_subject(&member) : 0;

		if (r < 0)
			return r;
	}
	return 0;
}

static int check_additional(const struct subject *s, const json_t *arg)
{
	const json_t *known = json_object_get(s->schema, "properties");
	const char *key;
	json_t *value;

	if (!json_is_object(s->value) || json_object_get(s->schema, "patternProperties"))
		return 0;
	json_object_foreach((json_t *)s->value, key, value)
	{
		struct subject member = member_of(s, arg, key, value);
		int r = 0;

		if (json_object_get(known, key))
			continue;
		r = json_is_false(arg) ? say_misfit(&member, "is not a known member")
				       : check_subject(&member);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Lists */

static int check_items_from(const struct subject *s, size_t from, const json_t *schema)
{
	size_t i;

	for (i = from; i < json_array_size(s->value); i++) {
		struct subject item = item_of(s, schema, i);
		int r = check_subject(&item);

		if (r < 0)
			return r;
	}
	return 0;
}

static int check_prefix(const struct subject *s, const json_t *arg)
{
	json_t *schema;
	size_t i;

	json_array_foreach(arg, i, schema)
	{
		struct subject item = item_of(s, schema, i);
		int r = item.value ? check_subject(&item) : 0;

		if (r < 0)
			return r;
	}
	return 0;
}

/* A list of schemas comes from older drafts; newer ones call it prefixItems. */
static int check_items(const struct subject *s, const json_t *arg)
{
	if (json_is_array(arg))
		return check_prefix(s, arg);
	return check_items_from(s, json_array_size(json_object_get(s->schema, "prefixItems")), arg);
}

static int check_min_items(const struct subject *s, const json_t *arg)
{
	if (!json_is_array(s->value) || !json_is_number(arg) ||
	    (double)json_array_size(s->value) >= json_number_value(arg))
		return 0;
	return say_misfit(s, "must have at least %.0f items", json_number_value(arg));
}

static int check_max_items(const struct subject *s, const json_t *arg)
{
	if (!json_is_array(s->value) || !json_is_number(arg) ||
	    (double)json_array_size(s->value) <= json_number_value(arg))
		return 0;
	return say_misfit(s, "must have at most %.0f items", json_number_value(arg));
}

static int check_unique(const struct subject *s, const json_t *arg)
{
	size_t n = json_array_size(s->value);
	size_t i;
	size_t k;
	int r;

	for (i = 0; json_is_true(arg) && i < n; i++) {
		for (k = 0; k < i; k++) {
			r = take_step(s);
			if (r < 0)
				return r;
			if (schema_same(json_array_get(s->value, i), json_array_get(s->value, k)))
				return say_misfit(s, "items %zu and %zu are equal", k, i);
		}
	}
	return 0;
}

/* Strings */

/* Characters, not bytes. */
static double length_of(const json_t *value)
{
	const char *text = json_string_value(value);
	size_t len = json_string_length(value);
	size_t count = 0;
	size_t i;

	for (i = 0; i < len; i++)
		count += ((unsigned char)text[i] & 0xc0) != 0x80;
	return (double)count;
}

static int check_min_length(const struct subject *s, const json_t *arg)
{
	if (!json_is_string(s->value) || !json_is_number(arg) ||
	    length_of(s->value) >= json_number_value(arg))
		return 0;
	return say_misfit(s, "must have at least %.0f characters", json_number_value(arg));
}

static int check_max_length(const struct subject *s, const json_t *arg)
{
	if (!json_is_string(s->value) || !json_is_number(arg) ||
	    length_of(s->value) <= json_number_value(arg))
		return 0;
	return say_misfit(s, "must have at most %.0f characters", json_number_value(arg));
}

static int check_pattern(const struct subject *s, const json_t *arg)
{
	struct span text;
	uint64_t began;
	uint64_t took;
	int r;

	if (!json_is_string(s->value) || !json_is_string(arg))
		return 0;
	if (!s->check->patterns)
		return say_misfit(s, "cannot be checked: the schema's patterns take too long");
	text = (struct span){ json_string_value(s->value), json_string_length(s->value) };
	began = clock_thread();
	r = pattern_match(json_string_value(arg), text);
	took = clock_thread() - began;
	s->check->patterns -= MIN(took, s->check->patterns);
	if (r == -ENOMEM)
		return err_nomem(s->err);
	return r ? 0 : say_misfit(s, "must match the pattern %.100s", json_string_value(arg));
}

/* Numbers */

static bool is_pair(const struct subject *s, const json_t *arg)
{
	return json_is_number(s->value) && json_is_number(arg);
}

static int out_of_bounds(const struct subject *s, const char *how, const json_t *bound)
{
	char number[SCHEMA_NUMBER_MAX];

	schema_say_number(bound, number);
	return say_misfit(s, "must be %s %s", how, number);
}

static int check_minimum(const struct subject *s, const json_t *arg)
{
	if (!is_pair(s, arg) || schema_compare_numbers(s->value, arg) >= 0)
		return 0;
	return out_of_bounds(s, "at least", arg);
}

static int check_maximum(const struct subject *s, const json_t *arg)
{
	if (!is_pair(s, arg) || schema_compare_numbers(s->value, arg) <= 0)
		return 0;
	return out_of_bounds(s, "at most", arg);
}

static int check_above(const struct subject *s, const json_t *arg)
{
	if (!is_pair(s, arg) || schema_compare_numbers(s->value, arg) > 0)
		return 0;
	return out_of_bounds(s, "more than", arg);
}

static int check_below(const struct subject *s, const json_t *arg)
{
	if (!is_pair(s, arg) || schema_compare_numbers(s->value, arg) < 0)
		return 0;
	return out_of_bounds(s, "less than", arg);
}

static int check_multiple(const struct subject *s, const json_t *arg)
{
	double quotient;

	if (!is_pair(s, arg) || json_number_value(arg) <= 0)
		return 0;
	if (json_is_integer(s->value) && json_is_integer(arg)) {
		if (json_integer_value(s->value) % json_integer_value(arg) == 0)
			return 0;
		return out_of_bounds(s, "a multiple of", arg);
	}
	quotient = json_number_value(s->value) / json_number_value(arg);
	/* Allow a small error: people call 0.3 a multiple of 0.1. */
	if (fabs(quotient - round(quotient)) <= 1e-9 * fmax(1, fabs(quotient)))
		return 0;
	return out_of_bounds(s, "a multiple of", arg);
}

/* Combinations */

static int check_any(const struct subject *s, const json_t *arg)
{
	json_t *schema;
	size_t i;

	json_array_foreach(arg, i, schema)
	{
		int r = try_schema(s, schema);

		if (r != -EINVAL)
			return r;
	}
	return json_array_size(arg) ? say_misfit(s, "fits none of the allowed forms") : 0;
}

static int check_one(const struct subject *s, const json_t *arg)
{
	json_t *schema;
	size_t fits = 0;
	size_t i;

	json_array_foreach(arg, i, schema)
	{
		int r = try_schema(s, schema);

		if (r < 0 && r != -EINVAL)
			return r;
		fits += r == 0;
	}
	if (fits == 1 || !json_array_size(arg))
		return 0;
	return say_misfit(s, fits ? "fits more than one of the allowed forms"
				  : "fits none of the allowed forms");
}

static int check_all(const struct subject *s, const json_t *arg)
{
	json_t *schema;
	size_t i;

	json_array_foreach(arg, i, schema)
	{
		struct subject other = same_value(s, schema);
		int r = check_subject(&other);

		if (r < 0)
			return r;
	}
	return 0;
}

static int check_not(const struct subject *s, const json_t *arg)
{
	int r = try_schema(s, arg);

	if (r == -EINVAL)
		return take_step(s);
	return r < 0 ? r : say_misfit(s, "has a form that is not allowed");
}

static int check_ref(const struct subject *s, const json_t *arg)
{
	const char *ref = json_string_value(arg);
	const json_t *schema = NULL;
	struct subject other;
	int r = -ENOENT;

	if (ref)
		r = schema_find_ref(s->check->root, ref, &s->check->steps, &schema);
	if (r == -ENOMEM)
		return err_nomem(s->err);
	if (r < 0 && !s->check->steps)
		return take_step(s); /* the search used them up */
	if (r < 0)
		return say_misfit(s, "cannot be checked: the schema has no %.100s",
				  ref ? ref : "$ref");
	other = same_value(s, schema);
	return check_subject(&other);
}

static const struct keyword {
	const char *name;
	int (*check)(const struct subject *s, const json_t *arg);
} keywords[] = {
	{ "$ref", check_ref },
	{ "type", check_type },
	{ "enum", check_enum },
	{ "const", check_const },
	{ "required", check_required },
	{ "properties", check_properties },
	{ "additionalProperties", check_additional },
	{ "prefixItems", check_prefix },
	{ "items", check_items },
	{ "minItems", check_min_items },
	{ "maxItems", check_max_items },
	{ "uniqueItems", check_unique },
	{ "minLength", check_min_length },
	{ "maxLength", check_max_length },
	{ "pattern", check_pattern },
	{ "minimum", check_minimum },
	{ "maximum", check_maximum },
	{ "exclusiveMinimum", check_above },
	{ "exclusiveMaximum", check_below },
	{ "multipleOf", check_multiple },
	{ "anyOf", check_any },
	{ "oneOf", check_one },
	{ "allOf", check_all },
	{ "not", check_not },
};

static int check_subject(struct subject *s)
{
	size_t i;
	int r = take_step(s);

	if (r < 0)
		return r;
	if (json_is_false(s->schema))
		return say_misfit(s, "is not allowed");
	if (json_is_null(s->value) && json_is_true(json_object_get(s->schema, "nullable")))
		return 0;
	for (i = 0; i < ARRAY_SIZE(keywords); i++) {
		const json_t *arg = json_object_get(s->schema, keywords[i].name);

		r = arg ? keywords[i].check(s, arg) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

int schema_check(const json_t *schema, const json_t *value, struct err *err)
{
	struct check check = { .root = schema,
			       .steps = SCHEMA_STEPS_MAX,
			       .patterns = SCHEMA_PATTERNS_MS * (uint64_t)NSEC_PER_MSEC };
	struct subject whole = {
		.check = &check, .schema = schema, .value = value, .index = NO_INDEX, .err = err
	};

	return check_subject(&whole);
}
