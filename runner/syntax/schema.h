/*
 * JSON Schema, as far as tool declarations use it. Keywords are type, enum, const,
 * properties, required, additionalProperties, items, prefixItems, minItems,
 * maxItems, uniqueItems, minLength, maxLength, pattern, minimum, maximum,
 * exclusiveMinimum, exclusiveMaximum, multipleOf, anyOf, oneOf, allOf, not,
 * $ref into the same document (schema_ref.h), and nullable. Types may be in upper
 * case, as Gemini writes them. Other keywords are ignored, and so is a pattern
 * that is invalid or takes too much memory or time (pattern.h).
 */
#ifndef RUNNER_SYNTAX_SCHEMA_H
#define RUNNER_SYNTAX_SCHEMA_H

#include "base/err.h"

#include <jansson.h>

#define SCHEMA_DEPTH_MAX   200
#define SCHEMA_STEPS_MAX   1000000 /* of one check, so that it ends soon */
#define SCHEMA_PATTERNS_MS 1000    /* processor time of one check for its patterns */

/*
 * Check a value. 0; -EINVAL: err names the member, as in "city: is missing", or
 * says that the schema asks for too many steps; -ENOMEM. Any thread.
 */
MUST_CHECK int schema_check(const json_t *schema, const json_t *value, struct err *err);

#endif
