/*
 * Marks: the places of the lines that act on earlier lines of a log, which are rewinds and
 * compactions. They are found without reading the lines between them.
 */
#ifndef STORE_SESSION_MARK_H
#define STORE_SESSION_MARK_H

#include "store/json/event.h"
#include "store/session/log.h"

/*
 * Call fn for each line of a range that has this action, in the order of the log. Not 0 from
 * fn ends the walk.
 */
MUST_CHECK int mark_lines(struct store *st, struct log_range range, enum action_member action,
			  line_at_fn *fn, void *arg, struct err *err);

/*
 * Inside a transaction: mark the line [start, start + length) of an event, if the event is a
 * rewind or a compaction.
 */
void mark_put(struct store_tx *tx, struct ref session, const struct event *e, uint64_t start,
	      size_t length);

/*
 * For timeline/fork.c: copy the marks before `cut` to a session whose log has the same lines up
 * to there. *rewinds: the number of rewinds among them.
 */
MUST_CHECK int mark_fork(struct store *st, struct ref from, struct ref to, uint64_t cut,
			 uint64_t *rewinds, struct err *err);

#endif
