/*
 * Sessions: the log of events, and the one door through which it grows.
 *
 * The log is bytes: the canonical lines of all events, each with a newline.
 * Rows hold it by the offset of their end; an append writes one row, and
 * behind the tail rows are folded into large segments. Offsets and bytes never
 * change. An append never reads the log.
 */
#ifndef STORE_SESSION_SESSION_H
#define STORE_SESSION_SESSION_H

#include "store/json/event.h"
#include "store/session/scope.h"

#define LOG_SEGMENT_BYTES (256u << 10) /* of a folded row, about */
#define LOG_FOLD_BYTES    (768u << 10) /* a tail this long is folded */

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

/* -ENOENT: the session is gone. Release it in any case. */
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

/*
 * Append up to size bytes of the log from offset to out; fewer only at its
 * end. `end` is where the caller takes the log to end. Any thread.
 */
MUST_CHECK int session_read(struct store *st, struct ref ref, uint64_t offset, size_t size,
			    struct buf *out, struct err *err);

/* Call fn for each whole line in [from, to) of the log, which are ends of lines. */
typedef int line_fn(void *arg, struct span line);
MUST_CHECK int session_lines(struct store *st, struct ref ref, uint64_t from, uint64_t to,
			     line_fn *fn, void *arg, struct err *err);

/*
 * The same from the end of [from, to) to its beginning; at: where the line begins in the log.
 * Reads not much more than the lines that fn asks for by returning 0.
 */
typedef int line_at_fn(void *arg, uint64_t at, struct span line);
MUST_CHECK int session_lines_back(struct store *st, struct ref ref, uint64_t from, uint64_t to,
				  line_at_fn *fn, void *arg, struct err *err);

/* How much of text, which is lines of the log, goes into one segment. */
size_t session_segment_length(struct span text);

/* Fold what is behind the tail of the log into segments. */
MUST_CHECK int session_fold(struct store *st, struct ref ref, struct err *err);

/* Where the line of an event lies in the log. -ENOENT. */
MUST_CHECK int session_find_event(struct store *st, struct ref ref, struct span id, uint64_t *start,
				  uint64_t *length, struct err *err);

#endif
