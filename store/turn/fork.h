/*
 * Copying the turns of a session that is forked.
 */
#ifndef STORE_TURN_FORK_H
#define STORE_TURN_FORK_H

#include "store/tx/store.h"

/*
 * Copy the turns that begin before offset `cut` to a new session, whose log has the same lines up
 * to there. A turn that had not ended by then becomes a failed turn. *turns: the number of the
 * last turn; 0: none.
 */
MUST_CHECK int turn_fork(struct store *st, struct ref from, struct ref to, uint64_t cut,
			 uint64_t *turns, struct err *err);

#endif
