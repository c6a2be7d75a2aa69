/*
 * The form of schemas: finds mistakes in a JSON Schema that schema.h would ignore.
 * With a misspelled type, for example, every value would pass.
 */
#ifndef RUNNER_SYNTAX_SCHEMA_FORM_H
#define RUNNER_SYNTAX_SCHEMA_FORM_H

#include "base/buf.h"

#include <jansson.h>

/*
 * Check a schema. 0; -EINVAL: err has the reason, and `where` gets the path of the
 * mistake, such as "properties.city.type"; -ENOMEM. Keywords that schema.h does not
 * know are ignored. Any thread.
 */
MUST_CHECK int schema_form_check(const json_t *schema, struct buf *where, struct err *err);

#endif
