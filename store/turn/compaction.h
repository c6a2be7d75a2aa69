/*
 * Compactions that somebody asked for and that are not done yet.
 *
 * They are made by the runner; here is what has to survive the daemon's end:
 * behind which turn of which session one waits. One at each place is enough.
 */
#ifndef STORE_TURN_COMPACTION_H
#define STORE_TURN_COMPACTION_H

#include "store/tx/store.h"

/* Note a compaction. behind: number of the turn it waits for; 0: none. -ESTALE: the session is
 * gone. */
MUST_CHECK int compaction_ask(struct store *st, struct ref session, uint64_t behind,
			      struct err *err);

/* Forget a compaction that was made, or that will not be made. */
MUST_CHECK int compaction_done(struct store *st, struct ref session, uint64_t behind,
			       struct err *err);

/* List all compactions, in order of sessions' numbers and within each. Not 0 from fn ends it. */
typedef int compaction_fn(void *arg, struct ref session, uint64_t behind);
MUST_CHECK int compaction_list(struct store *st, compaction_fn *fn, void *arg, struct err *err);

#endif
