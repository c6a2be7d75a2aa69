/*
 * Recent turns: a ring of the places of those that ended last. The store has the turns.
 *
 * The runner's lock guards the ring.
 */
#ifndef RUNNER_RECENT_H
#define RUNNER_RECENT_H

#include "store/tx/store.h"

#define RECENT_TURNS 1000 /* places of older turns are dropped */

struct turn_place {
	struct ref session;
	uint64_t n;
};

struct recent {
	struct turn_place turns[RECENT_TURNS];
	uint64_t count; /* all turns that were ever added */
};

/* Add a turn that has ended. */
void recent_add(struct recent *recent, struct ref session, uint64_t n);

/* Append the places as struct turn_place, the oldest first. */
void recent_list(const struct recent *recent, struct buf *out);

#endif
