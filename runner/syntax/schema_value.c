/*
 * Values: see schema_value.h.
 */
#include "runner/syntax/schema_value.h"

#include "base/cc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define INT_END 0x1p63 /* the first double over all integers */
#define SAY_MAX 1e18   /* smaller whole numbers are written in full */

/* Types */

#define KIND(type) (1u << (type))

/* A narrow type stands before a wide one. */
static const struct schema_type types[] = {
	{ "object", "an object", KIND(JSON_OBJECT) },
	{ "array", "a list", KIND(JSON_ARRAY) },
	{ "string", "a string", KIND(JSON_STRING) },
	{ "integer", "an integer", KIND(JSON_INTEGER) },
	{ "number", "a number", KIND(JSON_INTEGER) | KIND(JSON_REAL) },
	{ "boolean", "true or false", KIND(JSON_TRUE) | KIND(JSON_FALSE) },
	{ "null", "null", KIND(JSON_NULL) },
};

const struct schema_type *schema_type_find(const json_t *name)
{
	size_t i;

	for (i = 0; json_is_string(name) && i < ARRAY_SIZE(types); i++) {
		if (!strcasecmp(types[i].name, json_string_value(name)))
			return &types[i];
	}
	return NULL;
}

bool schema_type_fits(const struct schema_type *type, const json_t *value)
{
	double real = json_real_value(value);

	if (json_is_real(value) && trunc(real) == real)
		return type->kinds & KIND(JSON_INTEGER);
	return type->kinds & KIND(json_typeof(value));
}

const struct schema_type *schema_type_of(const json_t *value)
{
	const struct schema_type *type = types;

	while (!schema_type_fits(type, value))
		type++;
	return type;
}

/* Numbers */

/* Compare an integer with a double without a conversion that rounds. */
static int compare_mixed(json_int_t n, double x)
{
	json_int_t whole;
	double rest;

	if (x >= INT_END)
		return -1;
	if (x < -INT_END)
		return 1;
	whole = (json_int_t)x;
	rest = x - (double)whole;
	if (n != whole)
		return n < whole ? -1 : 1;
	return (rest < 0) - (rest > 0);
}

int schema_compare_numbers(const json_t *a, const json_t *b)
{
	double x = json_number_value(a);
	double y = json_number_value(b);

	if (json_is_integer(a) && json_is_integer(b)) {
		json_int_t m = json_integer_value(a);
		json_int_t n = json_integer_value(b);

		return (m > n) - (m < n);
	}
	if (json_is_integer(a))
		return compare_mixed(json_integer_value(a), y);
	if (json_is_integer(b))
		return -compare_mixed(json_integer_value(b), x);
	return (x > y) - (x < y);
}

/* Equality */

static bool same_lists(const json_t *a, const json_t *b)
{
	size_t n = json_array_size(a);
	size_t i;

	if (json_array_size(b) != n)
		return false;
	for (i = 0; i < n; i++) {
		if (!schema_same(json_array_get(a, i), json_array_get(b, i)))
			return false;
	}
	return true;
}

static bool same_objects(const json_t *a, const json_t *b)
{
	const char *key;
	json_t *value;

	if (json_object_size(a) != json_object_size(b))
		return false;
	/* jansson's loop wants a mutable object, but does not change it */
	json_object_foreach((json_t *)a, key, value)
	{
		const json_t *other = json_object_get(b, key);

		if (!other || !schema_same(value, other))
			return false;
	}
	return true;
}

bool schema_same(const json_t *a, const json_t *b)
{
	if (json_is_number(a) && json_is_number(b))
		return schema_compare_numbers(a, b) == 0;
	if (json_is_array(a) && json_is_array(b))
		return same_lists(a, b);
	if (json_is_object(a) && json_is_object(b))
		return same_objects(a, b);
	return json_equal(a, b);
}

void schema_say_number(const json_t *number, char out[SCHEMA_NUMBER_MAX])
{
	double x = json_number_value(number);

	if (json_is_integer(number))
		(void)snprintf(out, SCHEMA_NUMBER_MAX, "%" JSON_INTEGER_FORMAT,
			       json_integer_value(number));
	else if (x == trunc(x) && fabs(x) < SAY_MAX)
		(void)snprintf(out, SCHEMA_NUMBER_MAX, "%.0f", x);
	else
		(void)snprintf(out, SCHEMA_NUMBER_MAX, "%.15g", x);
}
