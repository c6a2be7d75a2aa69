/*
 * Sessions: appending to a log (log.h). An existing log grows only through
 * session_add(), which applies the event's changes of the state too.
 *
 * An append never reads the log, so it costs the same for any length.
 */
#ifndef STORE_SESSION_SESSION_H
#define STORE_SESSION_SESSION_H

#include "store/json/event.h"
#include "store/session/scope.h"

/* A session in a transaction: session_begin(), then any number of adds, then session_finish(). */
struct session_tx {
	struct store_tx *tx;
	struct ref ref;
	struct scope_info session;
	struct scope_info user; /* user and app are loaded when a delta needs them */
	struct scope_info app;
	bool has_user;
	bool has_app;
	uint64_t start;   /* offset of the new lines in the log */
	struct buf lines; /* the lines added so far */
	uint64_t stamp;
};

/* -ESTALE: the session is gone. Call session_release() in any case. */
MUST_CHECK int session_begin(struct session_tx *s, struct store_tx *tx, struct ref ref);

/*
 * Add an event: set an absent id and timestamp in it, and apply its stateDelta. A partial event
 * is not stored. -EEXIST: the log has the id; -EFBIG: the line is over EVENT_LINE_MAX.
 */
MUST_CHECK int session_add(struct session_tx *s, struct event *e);

/* Set a state key, with its prefix, to a text; no event tells of it. */
MUST_CHECK int session_put_state(struct session_tx *s, struct span key, struct span text);

/* Write the lines and the records of the scopes. */
MUST_CHECK int session_finish(struct session_tx *s);
void session_release(struct session_tx *s);

/*
 * Append events in order, in one transaction, as session_add() does.
 *
 * Returns 0; -ESTALE: the session is gone; -EEXIST; -EFBIG; -EIO; -ENOSPC. Any thread.
 */
MUST_CHECK int session_append(struct store *st, struct ref ref, struct event *events, size_t n,
			      struct err *err);

#endif
