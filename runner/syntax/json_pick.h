/*
 * Picking: members of JSON text as spans of a struct, by a table.
 *
 * For reading the few members that matter out of objects that a service sends,
 * without a tree and with every number as written. The text was checked before
 * (json_raw), and the spans point into it. A value of another kind than
 * expected is taken for an absent one: what services call required is not
 * always there.
 */
#ifndef RUNNER_SYNTAX_JSON_PICK_H
#define RUNNER_SYNTAX_JSON_PICK_H

#include "base/json_text.h"

/* A member to look for, and where in the struct its span is. */
struct jsonpick {
	const char *name; /* NULL ends a table */
	size_t at;
};

/* Whether the value begins so: '{', '[' or '"'. */
static inline bool jsonpick_is(struct span value, char first)
{
	return value.len && value.data[0] == first;
}

/* Whether a value is there and not null. */
static inline bool jsonpick_present(struct span value)
{
	return value.len && !span_is(value, "null");
}

/* Set the spans of the members that an object has. 0 or -ENOMEM. */
MUST_CHECK int jsonpick_object(struct span object, const struct jsonpick *members, void *into);

/* Call fn for each item of a list; not 0 ends it and is returned. */
typedef int jsonpick_fn(void *arg, struct span item);
MUST_CHECK int jsonpick_list(struct span list, jsonpick_fn *fn, void *arg);

#define JSONPICK_COUNT_MAX 1000000000000000LL /* a few of them can be added up */

/* A whole number from 0 to JSONPICK_COUNT_MAX; -1: the value is none. */
long long jsonpick_count(struct span value);

#endif
