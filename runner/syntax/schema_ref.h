/*
 * References of JSON Schema into the same document: "#/$defs/x", a JSON
 * Pointer that is percent-encoded, or "#x", the first schema whose $anchor it is.
 */
#ifndef RUNNER_SYNTAX_SCHEMA_REF_H
#define RUNNER_SYNTAX_SCHEMA_REF_H

#include "base/cc.h"

#include <jansson.h>

/*
 * Find what a reference names; *out is borrowed from the root.
 *
 * @steps	schemas that may be looked at for an anchor, which becomes what is
 *		left of that; NULL: as many as there are
 * Returns 0; -ENOENT: there is nothing; -ENOMEM.
 */
MUST_CHECK int schema_find_ref(const json_t *root, const char *ref, unsigned *steps,
			       const json_t **out);

#endif
