/*
 * Merging JSON objects as text.
 */
#ifndef BASE_JSON_MERGE_H
#define BASE_JSON_MERGE_H

#include "base/json_text.h"

/*
 * Append `a` with the members of `b` over it, in depth: objects are merged
 * member by member, anything else of b replaces what a has. Both are canonical
 * values. -ENOMEM.
 */
MUST_CHECK int json_merge(struct span a, struct span b, struct buf *out);

#endif
