/*
 * Loose rows: rows under a number that is no scope.
 *
 * They belong to a fork that is not complete, or to a scope that was removed. A KEY_LOOSE row
 * stands for them. Removing a scope takes its name and its record in one transaction. Its loose
 * rows are dropped afterwards: at once if they are few, else some at a time by the janitor.
 */
#ifndef STORE_TIMELINE_LOOSE_H
#define STORE_TIMELINE_LOOSE_H

#include "store/tx/store.h"

enum loose_kind {
	LOOSE_FORK = 0,    /* becomes a session, or is dropped by whoever makes it */
	LOOSE_REMOVED = 1, /* to be dropped */
};

/* Inside a transaction: mark rows as loose, or as rows of a scope. -ESTALE: they are not loose. */
void loose_put(struct store_tx *tx, uint64_t number, enum loose_kind kind);
MUST_CHECK int loose_publish(struct store_tx *tx, uint64_t number);

/*
 * Drop the rows under a number if they are few. Returns 0; 1: there are more, and their mark is
 * still there; -errno. Any thread.
 */
MUST_CHECK int loose_drop_few(struct store *st, uint64_t number, struct err *err);

/* Drop the rows under a number, and their mark. Any thread. */
MUST_CHECK int loose_drop(struct store *st, uint64_t number, struct err *err);

/* Drop all rows of the kind LOOSE_REMOVED of this daemon. Any thread. */
MUST_CHECK int loose_drop_all(struct store *st, struct err *err);

/* At the start of the daemon: forks that it had not completed become LOOSE_REMOVED. */
MUST_CHECK int loose_recover(struct store *st, struct err *err);

#endif
