/*
 * JSON values of texts from outside.
 */
#ifndef RUNNER_SYNTAX_JSON_VALUE_H
#define RUNNER_SYNTAX_JSON_VALUE_H

#include "base/buf.h"

#include <jansson.h>

/*
 * Make a JSON string of a text that need not be UTF-8, such as a path: invalid bytes become
 * U+FFFD. JSON null for NULL. Returns NULL when out of memory.
 */
json_t *json_value_text(const char *text);

/*
 * Parse a JSON text. Integers beyond 64 bits become the nearest double, since jansson has no
 * larger type. Returns NULL for an invalid text, and when out of memory.
 */
json_t *json_value_load(struct span text);

#endif
