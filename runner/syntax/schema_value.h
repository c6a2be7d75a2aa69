/*
 * Values as JSON Schema compares them: 1 and 1.0 are equal, even inside of lists
 * and objects.
 */
#ifndef RUNNER_SYNTAX_SCHEMA_VALUE_H
#define RUNNER_SYNTAX_SCHEMA_VALUE_H

#include <jansson.h>
#include <stdbool.h>

#define SCHEMA_NUMBER_MAX 40 /* bytes of a number as text, with its NUL */

/* Negative, zero or positive as a is less than, equal to or more than b. Exact. */
int schema_compare_numbers(const json_t *a, const json_t *b);

/* Whether two values are equal. */
bool schema_same(const json_t *a, const json_t *b);

/* Write a number for people: whole ones have no point and no exponent, unless they are long. */
void schema_say_number(const json_t *number, char out[SCHEMA_NUMBER_MAX]);

#endif
