/*
 * Values as JSON Schema compares them: numbers are what they amount to, so that
 * 1 and 1.0 are one value wherever they stand.
 */
#ifndef RUNNER_SYNTAX_SCHEMA_VALUE_H
#define RUNNER_SYNTAX_SCHEMA_VALUE_H

#include <jansson.h>
#include <stdbool.h>

#define SCHEMA_NUMBER_MAX 40 /* bytes of a number in words, with its NUL */

/* Negative, zero or positive as a is less than, equal to or more than b. Exact. */
int schema_compare_numbers(const json_t *a, const json_t *b);

/* Whether two values are equal. */
bool schema_same(const json_t *a, const json_t *b);

/* Write a number for people: a whole one without point and exponent, if that is not too long. */
void schema_say_number(const json_t *number, char out[SCHEMA_NUMBER_MAX]);

#endif
