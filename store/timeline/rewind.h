/*
 * Rewind: back to before a turn, without losing a line.
 *
 * A rewind is an event that names an invocation: lines from there up to the
 * event are undone. They stay in the log, but models do not see them, and a
 * later rewind goes by what is left. Turns are undone by number, so also lines
 * of theirs that come behind the event; lines without a turn by where they
 * stand. An event that names what is not there, or undone already, means
 * nothing.
 */
#ifndef STORE_TIMELINE_REWIND_H
#define STORE_TIMELINE_REWIND_H

#include "store/session/session.h"

/* The parts of a log that are undone. All zero: nothing. */
struct rewound {
	struct buf turns;  /* of struct rewound_turn, by invocation */
	struct buf ranges; /* of struct rewound_range */
};

/*
 * Load what is undone up to info->log_size. Does nothing if
 * `rewinds`, of the session's record, is 0; else reads the rewinds' own lines.
 */
MUST_CHECK int rewound_load(struct rewound *rw, struct store *st, struct ref session,
			    const struct scope_info *info, struct err *err);
void rewound_release(struct rewound *rw);

/* Whether the line of an invocation that begins at `at` is undone. */
bool rewound_hides(const struct rewound *rw, struct span invocation, uint64_t at);

/*
 * Undo the turn of this invocation and all behind it: append the event, with
 * state and artifacts as the lines that are left had them.
 *
 * -ENOENT: no turn that is not undone has it; -EBUSY: a turn runs or waits;
 * -ESTALE: the session is gone; -EFBIG: too much would have to be set.
 */
MUST_CHECK int session_rewind(struct store *st, struct ref ref, struct span invocation,
			      struct err *err);

#endif
