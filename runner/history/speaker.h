/*
 * Select: who spoke last, and who made a call. Both are found from the end of
 * the log, at the cost of the way back to them. What a rewind undid is not there.
 */
#ifndef RUNNER_HISTORY_SPEAKER_H
#define RUNNER_HISTORY_SPEAKER_H

#include "store/turn/turn.h"

/*
 * Asked for each author that speaks for the first time, walking backwards.
 * 1: it is this one; 0: on; below 0 or above 1: it is none of them.
 */
typedef int speaker_fn(void *arg, const char *author);

/*
 * Append the author of the newest event that is not the user's and that fn accepts; nothing
 * when there is none. turn: its own events do not count; NULL: all do.
 * Returns 0; what fn returned below 0; -ENOENT: the session is gone; -errno.
 */
MUST_CHECK int speaker_last(struct store *st, struct ref session, const struct turn_info *turn,
			    speaker_fn *accepts, void *arg, struct buf *author, struct err *err);

/*
 * The newest event with a function call of that id: append its author, its branch and its
 * line (without a newline). -ENOENT: there is none.
 */
MUST_CHECK int speaker_of_call(struct store *st, struct ref session, const char *call_id,
			       struct buf *author, struct buf *branch, struct buf *line,
			       struct err *err);

#endif
