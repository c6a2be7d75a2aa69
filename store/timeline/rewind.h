/*
 * Rewind: going back to before a turn, without losing a line.
 *
 * A rewind is an event that names an invocation. It undoes the lines from that invocation up to
 * itself. The lines stay in the log, but models do not see them, and later rewinds ignore them.
 * A turn is undone by its number, with the lines that it adds after the rewind. A line without a
 * turn is undone by its place. A rewind has no effect if its invocation is unknown or undone
 * already.
 */
#ifndef STORE_TIMELINE_REWIND_H
#define STORE_TIMELINE_REWIND_H

#include "store/session/session.h"

/* The parts of a log that are undone. All zero: none. */
struct rewound {
	struct buf turns;  /* struct rewound_turn, sorted by invocation */
	struct buf ranges; /* struct rewound_range */
};

/*
 * Load the undone parts up to info->log_size. Reads nothing if info->rewinds is 0, else the lines
 * of the rewinds and the turns. Call rewound_release() in any case.
 */
MUST_CHECK int rewound_load(struct rewound *rw, struct store *st, struct ref session,
			    const struct scope_info *info, struct err *err);
void rewound_release(struct rewound *rw);

/* Whether a line is undone. invocation: its invocation id; at: its offset. */
bool rewound_hides(const struct rewound *rw, struct span invocation, uint64_t at);

/*
 * Undo the turn of this invocation and everything after it: append a rewind that sets state and
 * artifacts to what the remaining lines say.
 *
 * Returns 0; -ENOENT: no turn has the invocation, or it is undone; -EBUSY: a turn runs or waits;
 * -ESTALE: the session is gone; -EFBIG: the event would be too large. Any thread.
 */
MUST_CHECK int session_rewind(struct store *st, struct ref ref, struct span invocation,
			      struct err *err);

#endif
