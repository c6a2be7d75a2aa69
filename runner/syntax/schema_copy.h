/*
 * JSON Schemas as requests to providers need them: copied, with types in lower case.
 */
#ifndef RUNNER_SYNTAX_SCHEMA_COPY_H
#define RUNNER_SYNTAX_SCHEMA_COPY_H

#include "base/buf.h"

#include <jansson.h>

#define SCHEMA_COPY_DEPTH 64

/*
 * Copy a schema, with its types in lower case (Gemini has upper case). The caller frees
 * *out. 0; -E2BIG: the schema is nested more than SCHEMA_COPY_DEPTH levels deep; -ENOMEM.
 */
MUST_CHECK int schema_copy(const json_t *schema, json_t **out);

/* Append a copy as text. Returns as schema_copy(). */
MUST_CHECK int schema_copy_put(const json_t *schema, struct buf *out);

/*
 * Append a copy of the schema of a tool's parameters; NULL: no parameters. Most services
 * want a schema of an object, so `type` and `properties` are added if they are missing. Returns as
 * schema_copy().
 */
MUST_CHECK int schema_copy_put_object(const json_t *schema, struct buf *out);

/*
 * Call fn for a schema and all schemas in it; fn may change them. A result other than 0 ends the
 * walk and is returned; -E2BIG: nested too deeply.
 */
typedef int schema_fn(void *arg, json_t *schema);
MUST_CHECK int schema_each(json_t *schema, schema_fn *fn, void *arg);

#endif
