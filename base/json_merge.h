/*
 * Merging JSON objects as text.
 */
#ifndef BASE_JSON_MERGE_H
#define BASE_JSON_MERGE_H

#include "base/json_text.h"

/*
 * Append the canonical value `a` changed by the canonical value `b`. Two objects
 * are merged member by member, at all levels; any other value of b replaces
 * that of a. -ENOMEM.
 */
MUST_CHECK int json_merge(struct span a, struct span b, struct buf *out);

#endif
