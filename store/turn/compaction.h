/*
 * Compactions that somebody asked for and that are not done yet.
 *
 * They are made by the runner; here is what has to survive the daemon's end:
 * behind which turn of which session one waits. One at each place is enough.
 */
#ifndef STORE_TURN_COMPACTION_H
#define STORE_TURN_COMPACTION_H

#include "store/tx/store.h"

/* Note one. behind: number of a turn; 0: it waits for none. -ESTALE: the session is gone. */
MUST_CHECK int compaction_ask(struct store *st, struct ref session, uint64_t behind,
			      struct err *err);

/* It was made, or will not be. */
MUST_CHECK int compaction_done(struct store *st, struct ref session, uint64_t behind,
			       struct err *err);

/* Every one, in order of sessions' numbers and within each. Not 0 from fn ends it. */
typedef int compaction_fn(void *arg, struct ref session, uint64_t behind);
MUST_CHECK int compaction_list(struct store *st, compaction_fn *fn, void *arg, struct err *err);

#endif
