/*
 * Turns as the store has them: a message, the events that answer it, and the end.
 *
 * A turn has a number in its session, from 1. One transaction writes its record and the user's
 * event. Each later event updates the record in its own transaction. The texts of a turn are read
 * from its events (text.h).
 */
#ifndef STORE_TURN_TURN_H
#define STORE_TURN_TURN_H

#include "store/session/session.h"
#include "store/turn/info.h"
#include "store/turn/waiting.h"

/*
 * Make the next turn of a session: its record, its place in the queue, and its user event, whose
 * invocation id names the turn. The transaction also moves the session's attachments
 * (attachment.h) into the event and deletes the staged message with the number `message`; 0: none.
 * -ESTALE: the session is gone; -EINVAL: the invocation id is too long.
 */
MUST_CHECK int turn_submit(struct store *st, struct ref session, uint64_t message,
			   struct event *user_event, struct turn_info *out, struct err *err);

/* Note that a turn runs. agent: the agent that answers. -ESTALE: the session is gone. */
MUST_CHECK int turn_start(struct store *st, struct ref session, uint64_t n, const char *agent,
			  struct turn_info *out, struct err *err);

/* Additions to a turn in one transaction. All pointers are borrowed. */
struct call_report;
struct save;
struct turn_commit {
	struct event *events; /* session_append() says how they are added */
	size_t count;         /* may be 0 */
	/* Reports on calls (call.h) of tools, and of the model whose answer is the first event. */
	const struct call_report *reports;
	size_t report_count;
	/*
	 * Versions of artifacts (artifact/saves.h), even several of one name. The first event gets
	 * them in its artifactDelta. Missing directories are made.
	 */
	struct save *saves;
	size_t save_count;
	size_t bad_save; /* set: the save, from 1, that made the commit fail; 0: none */
	/* TURN_DONE or TURN_FAILED: the end of the turn; 0: the turn goes on. */
	enum turn_state end;
	const char *error; /* the reason of a failure, or NULL */
};

/*
 * Commit all additions or nothing. out: NULL is fine. Errors as for session_append(); -EINVAL:
 * there are saves without an event that is stored, or the name of a save is invalid;
 * -ENAMETOOLONG; -ENOTDIR: an artifact has the name of a directory; -EISDIR: the reverse.
 */
MUST_CHECK int turn_commit(struct store *st, struct ref session, uint64_t n,
			   struct turn_commit *commit, struct turn_info *out, struct err *err);

/* End a turn without another event: turn_commit() with only `end` and `error`. */
MUST_CHECK int turn_end(struct store *st, struct ref session, uint64_t n, enum turn_state state,
			const char *error, struct err *err);

/* Describe a turn. -ENOENT. */
MUST_CHECK int turn_stat(struct store *st, struct ref session, uint64_t n, struct turn_info *out,
			 struct err *err);

/* Describe the first turn of a session that has not ended. -ENOENT: no turn runs or waits. */
MUST_CHECK int turn_current(struct store *st, struct ref session, struct turn_info *out,
			    struct err *err);

/* List the turns in order, with numbers above `after` only. */
typedef int turn_fn(void *arg, const struct turn_info *info);
MUST_CHECK int turn_list(struct store *st, struct ref session, uint64_t after, turn_fn *fn,
			 void *arg, struct err *err);

/*
 * List all turns that have not ended, in the order of the numbers of their sessions and then
 * of their own. Not 0 from fn ends the walk.
 */
MUST_CHECK int turn_unfinished(struct store *st, waiting_fn *fn, void *arg, struct err *err);

#endif
