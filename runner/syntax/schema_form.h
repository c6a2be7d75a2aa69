/*
 * The form of schemas: whether a JSON Schema is written so that schema.h does
 * with it what its author meant. A misspelled type would let anything pass.
 */
#ifndef RUNNER_SYNTAX_SCHEMA_FORM_H
#define RUNNER_SYNTAX_SCHEMA_FORM_H

#include "base/buf.h"

#include <jansson.h>

/*
 * Check a schema. -EINVAL: err has the reason, and `where` gets the way to the
 * place, such as "properties.city.type"; -ENOMEM. Keywords that schema.h does
 * not know are not looked at. Any thread.
 */
MUST_CHECK int schema_form_check(const json_t *schema, struct buf *where, struct err *err);

#endif
