/*
 * The log of a session: reading it, and folding its rows.
 *
 * The log has the canonical lines of all events, each with a newline. A row has the bytes of an
 * append, and its key has the offset of their end. Older rows are folded into large segments.
 * Offsets and bytes of the log never change.
 */
#ifndef STORE_SESSION_LOG_H
#define STORE_SESSION_LOG_H

#include "store/tx/store.h"

#define LOG_SEGMENT_BYTES (256u << 10) /* about the size of a folded row */
#define LOG_FOLD_BYTES    (768u << 10) /* a tail this long is folded */

/*
 * Append `size` bytes of the log from `offset` on; fewer only at the end of the log. A session
 * that is gone has an empty log. Any thread.
 */
MUST_CHECK int session_read(struct store *st, struct ref ref, uint64_t offset, size_t size,
			    struct buf *out, struct err *err);

/* The bytes [from, to) of a session's log. Both are 0 or the end of a line. */
struct log_range {
	struct ref session;
	uint64_t from;
	uint64_t to;
};

/* Call fn for each line of a range, without its newline. Not 0 from fn ends the walk. */
typedef int line_fn(void *arg, struct span line);
MUST_CHECK int session_lines(struct store *st, struct log_range range, line_fn *fn, void *arg,
			     struct err *err);

/*
 * Call fn for each line of a range, the last one first. `at` is the offset of the line.
 * Not 0 from fn ends the walk, which then has read little more than fn has seen.
 */
typedef int line_at_fn(void *arg, uint64_t at, struct span line);
MUST_CHECK int session_lines_back(struct store *st, struct log_range range, line_at_fn *fn,
				  void *arg, struct err *err);

/* The number of bytes at the start of `text`, lines of a log, that go into one segment. */
size_t session_segment_length(struct span text);

/* Fold the rows of a long log into segments, all but the last rows. -ENOENT. */
MUST_CHECK int session_fold(struct store *st, struct ref ref, struct err *err);

/* Find the line of an event by its id: [*start, *start + *length) with its newline. -ENOENT. */
MUST_CHECK int session_find_event(struct store *st, struct ref ref, struct span id, uint64_t *start,
				  uint64_t *length, struct err *err);

#endif
