/*
 * What tests add to turns: events alone.
 */
#ifndef UNIT_TURN_APPEND_H
#define UNIT_TURN_APPEND_H

#include "store/turn/turn.h"

static inline int turn_append(struct store *st, struct ref session, uint64_t n,
			      struct event *events, size_t count, struct turn_info *out,
			      struct err *err)
{
	struct turn_commit commit = { .events = events, .count = count };

	return turn_commit(st, session, n, &commit, out, err);
}

#endif
