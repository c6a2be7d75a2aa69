/*
 * References of JSON Schema into the same document: "#/$defs/x" is a JSON Pointer,
 * percent-encoded; "#x" names the first schema with the $anchor x.
 */
#ifndef RUNNER_SYNTAX_SCHEMA_REF_H
#define RUNNER_SYNTAX_SCHEMA_REF_H

#include "base/cc.h"

#include <jansson.h>

/*
 * Find the schema that a reference names; *out is borrowed from the root.
 *
 * @steps	how many schemas may be searched for an anchor; reduced by those that
 *		were; NULL: no limit
 * Returns 0; -ENOENT; -ENOMEM.
 */
MUST_CHECK int schema_find_ref(const json_t *root, const char *ref, unsigned *steps,
			       const json_t **out);

#endif
