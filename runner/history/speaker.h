/*
 * Speakers: the agent that spoke last, and the agent that made a call.
 *
 * Both are searched from the end of the log. Lines that a rewind undid do not count.
 */
#ifndef RUNNER_HISTORY_SPEAKER_H
#define RUNNER_HISTORY_SPEAKER_H

#include "store/turn/turn.h"

/*
 * Called once for each author, walking backwards. 1: take this author; 0: go on; any other result
 * ends the search without an author.
 */
typedef int speaker_fn(void *arg, const char *author);

/*
 * Append the author of the newest event that is not the user's and that fn accepts, if there is
 * one. turn: skip the events of this turn; NULL: skip none.
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
