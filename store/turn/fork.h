/*
 * The turns of a session that is forked.
 */
#ifndef STORE_TURN_FORK_H
#define STORE_TURN_FORK_H

#include "store/tx/store.h"

/*
 * Copy the turns that begin before offset `cut` to a session that is being
 * made, whose log has the same lines up to there. One that had not ended by
 * then ends there: it failed. *turns is the number of the last one.
 */
MUST_CHECK int turn_fork(struct store *st, struct ref from, struct ref to, uint64_t cut,
			 uint64_t *turns, struct err *err);

#endif
