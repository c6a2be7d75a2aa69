/*
 * Speakers: the agent that spoke last, and the agent that made a call.
 *
 * Both are searched from the end of the log. Lines that a rewind undid do not count.
 */
#ifndef RUNNER_HISTORY_SPEAKER_H
#define RUNNER_HISTORY_SPEAKER_H

#include "store/json/content.h"
#include "store/turn/turn.h"

/* The choice of an author. */
struct speaker_filter {
	/*
	 * Called once for each author, walking backwards. 1: take this author; 0: go on; any other
	 * result ends the search without an author.
	 */
	int (*accepts)(void *arg, const char *author);
	void *arg;
	const char *skip; /* invocation whose events do not count; NULL: all count */
};

/*
 * Append the author of the newest event that is not the user's and that the filter accepts, if
 * there is one.
 * Returns 0; what accepts() returned below 0; -ENOENT: the session is gone; -errno.
 */
MUST_CHECK int speaker_last(struct store *st, struct ref session,
			    const struct speaker_filter *filter, struct buf *author,
			    struct err *err);

/* A call of a function, and the event that has it. */
struct caller {
	struct buf author;
	struct buf branch;       /* empty: none */
	struct buf line;         /* the event's line of the log, without its newline */
	struct content *content; /* the event's content */
	const struct part *call; /* the call, in that content */
};
void caller_release(struct caller *caller);

/*
 * Find the newest event with a function call of that id. out: all zero; the caller releases it,
 * even after an error. -ENOENT: there is none.
 */
MUST_CHECK int speaker_of_call(struct store *st, struct ref session, const char *call_id,
			       struct caller *out, struct err *err);

#endif
