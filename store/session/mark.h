/*
 * Marks: where the lines of a log are that act on those before them: rewinds
 * and compactions. They are found without reading what lies between them.
 */
#ifndef STORE_SESSION_MARK_H
#define STORE_SESSION_MARK_H

#include "store/json/event.h"
#include "store/tx/store.h"

/*
 * Call fn for each line that begins in [from, to) and has this action, in the order of the
 * log. at: where it begins. Not 0 from fn ends it.
 */
typedef int mark_fn(void *arg, uint64_t at, struct span line);
MUST_CHECK int mark_lines(struct store *st, struct ref session, enum action_member action,
			  uint64_t from, uint64_t to, mark_fn *fn, void *arg, struct err *err);

/* Inside a transaction: note the event whose line is [start, start + length), if it is one. */
void mark_put(struct store_tx *tx, struct ref session, const struct event *e, uint64_t start,
	      size_t length);

/*
 * For timeline/fork.c: copy those that end before `cut` to a session whose log has the same lines
 * up to there. *rewinds: how many of them are rewinds.
 */
MUST_CHECK int mark_fork(struct store *st, struct ref from, struct ref to, uint64_t cut,
			 uint64_t *rewinds, struct err *err);

#endif
