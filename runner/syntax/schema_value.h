/*
 * Values as JSON Schema sees them: their types, and which are equal. 1 and 1.0 are
 * equal, even inside of lists and objects, and both are integers.
 */
#ifndef RUNNER_SYNTAX_SCHEMA_VALUE_H
#define RUNNER_SYNTAX_SCHEMA_VALUE_H

#include <jansson.h>
#include <stdbool.h>

#define SCHEMA_NUMBER_MAX 40 /* bytes of a number as text, with its NUL */

struct schema_type {
	const char *name; /* in a schema */
	const char *say;  /* for people, such as "a list" */
	unsigned kinds;   /* jansson's types of its values, as bits */
};

/* Find the type that a value of a schema names, in any case. NULL: no such type. */
const struct schema_type *schema_type_find(const json_t *name);

/* Whether a value is of a type. */
bool schema_type_fits(const struct schema_type *type, const json_t *value);

/* The type of a value. A number that is an integer has that type. */
const struct schema_type *schema_type_of(const json_t *value);

/* Negative, zero or positive as a is less than, equal to or more than b. Exact. */
int schema_compare_numbers(const json_t *a, const json_t *b);

/* Whether two values are equal. */
bool schema_same(const json_t *a, const json_t *b);

/* Write a number for people: whole ones have no point and no exponent, unless they are long. */
void schema_say_number(const json_t *number, char out[SCHEMA_NUMBER_MAX]);

#endif
