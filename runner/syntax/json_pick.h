/*
 * Picking: a table says which members of a JSON object go into which spans of a
 * struct.
 *
 * Translators read the few members that matter in this way, without a tree, and
 * numbers keep their digits. The text must be checked before (json_raw); the spans
 * point into it. A value of an unexpected kind counts as absent, since services
 * leave out even members that they call required.
 */
#ifndef RUNNER_SYNTAX_JSON_PICK_H
#define RUNNER_SYNTAX_JSON_PICK_H

#include "base/json_text.h"

/* A member to look for, and the offset of its span in the struct. */
struct jsonpick {
	const char *name; /* NULL ends a table */
	size_t at;
};

/* Whether a value begins with '{', '[' or '"'. */
static inline bool jsonpick_is(struct span value, char first)
{
	return value.len && value.data[0] == first;
}

/* Whether a value is present and not null. */
static inline bool jsonpick_present(struct span value)
{
	return value.len && !span_is(value, "null");
}

/* Set the spans of the members that an object has. 0 or -ENOMEM. */
MUST_CHECK int jsonpick_object(struct span object, const struct jsonpick *members, void *into);

/* Call fn for each item of a list. A result other than 0 ends the loop and is returned. */
typedef int jsonpick_fn(void *arg, struct span item);
MUST_CHECK int jsonpick_list(struct span list, jsonpick_fn *fn, void *arg);

#define JSONPICK_COUNT_MAX 1000000000000000LL /* a sum of several does not overflow */

/* A whole number from 0 to JSONPICK_COUNT_MAX; -1: the value is no such number. */
long long jsonpick_count(struct span value);

#endif
