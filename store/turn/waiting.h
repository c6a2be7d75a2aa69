/*
 * Waiting: the work that a session still has, which must survive the end of the daemon.
 *
 * Each row is at a turn of a session: a turn that has not ended, or a compaction that somebody
 * asked for. The runner does the work.
 */
#ifndef STORE_TURN_WAITING_H
#define STORE_TURN_WAITING_H

#include "store/tx/key.h"
#include "store/tx/store.h"

/* Inside a transaction: put a row of a space at turn n. */
void waiting_put(struct store_tx *tx, enum key_space space, struct ref session, uint64_t n);

/*
 * List the rows of a space, in the order of the numbers of their sessions and then of their
 * turns. Not 0 from fn ends the walk and is returned.
 */
typedef int waiting_fn(void *arg, struct ref session, uint64_t n);
MUST_CHECK int waiting_list(struct store *st, enum key_space space, waiting_fn *fn, void *arg,
			    struct err *err);

/*
 * Note that a compaction is to be made after turn n; 0: at once. A second one at the same place
 * changes nothing. -ESTALE: the session is gone.
 */
MUST_CHECK int compaction_ask(struct store *st, struct ref session, uint64_t n, struct err *err);

/* Forget a compaction that was made, or that will not be made. */
MUST_CHECK int compaction_done(struct store *st, struct ref session, uint64_t n, struct err *err);

/* List all compactions, as waiting_list() does. */
MUST_CHECK int compaction_list(struct store *st, waiting_fn *fn, void *arg, struct err *err);

#endif
