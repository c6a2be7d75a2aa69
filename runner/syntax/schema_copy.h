/*
 * JSON Schemas for providers.
 */
#ifndef RUNNER_SYNTAX_SCHEMA_COPY_H
#define RUNNER_SYNTAX_SCHEMA_COPY_H

#include "base/buf.h"

#include <jansson.h>

#define MODEL_SCHEMA_DEPTH 64

/* *out is a new copy with its types in lower case, as Gemini does not write them. -E2BIG; -ENOMEM.
 */
MUST_CHECK int model_schema_copy(const json_t *schema, json_t **out);

/* Append such a copy. -E2BIG: nested too deeply; -ENOMEM. */
MUST_CHECK int model_schema_put(const json_t *schema, struct buf *out);

/*
 * The same of a schema of parameters, or of none (NULL). Most services refuse one
 * that is not plainly of an object, so `type` and `properties` are added where
 * it has none.
 */
MUST_CHECK int model_schema_put_object(const json_t *schema, struct buf *out);

/* Call fn for a schema and all schemas in it, which it may change. Not 0 ends it; -E2BIG. */
typedef int model_schema_fn(void *arg, json_t *schema);
MUST_CHECK int model_schema_each(json_t *schema, model_schema_fn *fn, void *arg);

#endif
