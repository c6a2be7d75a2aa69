/*
 * Sessions: the one door through which a log (log.h) grows, and the state with it.
 *
 * An append never reads the log.
 */
#ifndef STORE_SESSION_SESSION_H
#define STORE_SESSION_SESSION_H

#include "store/json/event.h"
#include "store/session/scope.h"

/* A transaction on a session: begin, then any number of adds, then finish. */
struct session_tx {
	struct store_tx *tx;
	struct ref ref;
	struct scope_info session;
	struct scope_info user; /* loaded when a delta touches them */
	struct scope_info app;
	bool has_user;
	bool has_app;
	uint64_t start;   /* of the lines in the log */
	struct buf lines; /* added so far */
	uint64_t stamp;
};

/* -ESTALE: the session is gone. Call session_release() in any case. */
MUST_CHECK int session_begin(struct session_tx *s, struct store_tx *tx, struct ref ref);

/*
 * Add an event: fill in id and timestamp where absent, apply its stateDelta.
 * A partial event is taken and not stored. -EEXIST: the id is in the log.
 */
MUST_CHECK int session_add(struct session_tx *s, struct event *e);

/* Set a state key, with its prefix, to a text, besides what events set it to. */
MUST_CHECK int session_put_state(struct session_tx *s, struct span key, struct span text);

/* Write what was added. */
MUST_CHECK int session_finish(struct session_tx *s);
void session_release(struct session_tx *s);

/*
 * Append events in order, as one transaction. Ids and times that were absent
 * are set in the events.
 *
 * Returns 0; -ESTALE: the session is gone; -EEXIST: an id is in the log
 * already; -EFBIG; -EIO, -ENOSPC. Any thread.
 */
MUST_CHECK int session_append(struct store *st, struct ref ref, struct event *events, size_t n,
			      struct err *err);

#endif
