/*
 * Turns, as they are kept: a message, the events that answered it, how it ended.
 *
 * A turn has a number in its session, from 1. Its user event is committed
 * together with its record; each later event moves the record along in the
 * same transaction. What a turn said is told from its events (text.h), nothing is
 * stored twice.
 */
#ifndef STORE_TURN_TURN_H
#define STORE_TURN_TURN_H

#include "store/session/session.h"
#include "store/turn/info.h"
#include "store/turn/waiting.h"

/*
 * Make the next turn of a session: number, record, place in the queue, and its
 * user event, whose invocation id names the turn. The session's attachments
 * (attachment.h) become parts of the event and go. message: its staged pieces
 * go in the same transaction; 0: none. -ESTALE: the session is gone.
 */
MUST_CHECK int turn_submit(struct store *st, struct ref session, uint64_t message,
			   struct event *user_event, struct turn_info *out, struct err *err);

/* The turn runs now. agent: who answers. */
MUST_CHECK int turn_start(struct store *st, struct ref session, uint64_t n, const char *agent,
			  struct turn_info *out, struct err *err);

/* The additions to a turn in one transaction. All borrowed. */
struct call_report;
struct save;
struct turn_commit {
	struct event *events; /* as for session_append */
	size_t count;         /* may be 0 */
	/* Reports on calls (call.h): on the model whose answer is the first event, and on tools. */
	const struct call_report *reports;
	size_t report_count;
	/*
	 * Versions of artifacts (artifact/saves.h), several of one name also. The first event names
	 * them in its artifactDelta, beside what it names already. Directories are made as needed.
	 */
	struct save *saves;
	size_t save_count;
	size_t bad_save; /* set: which one, from 1, is why it failed; 0: none of them */
	/* TURN_DONE or TURN_FAILED: the turn ends so; 0: it goes on. */
	enum turn_state end;
	const char *error; /* of a turn that ends: why it failed, or NULL */
};

/*
 * All of it, or nothing. As session_append; -EINVAL: saves without an event that is stored, or
 * with a name that cannot be one; -ENAMETOOLONG; -ENOTDIR, -EISDIR: something else has the name
 * of a directory, or of an artifact.
 */
MUST_CHECK int turn_commit(struct store *st, struct ref session, uint64_t n,
			   struct turn_commit *commit, struct turn_info *out, struct err *err);

/* End a turn without another event: turn_commit() with only `end` and `error`. */
MUST_CHECK int turn_end(struct store *st, struct ref session, uint64_t n, enum turn_state state,
			const char *error, struct err *err);

/* -ENOENT. */
MUST_CHECK int turn_stat(struct store *st, struct ref session, uint64_t n, struct turn_info *out,
			 struct err *err);

/* The first turn of a session that has not ended. -ENOENT: none runs or waits. */
MUST_CHECK int turn_current(struct store *st, struct ref session, struct turn_info *out,
			    struct err *err);

/* In order, numbers above `after` only. Not 0 from fn ends it. */
typedef int turn_fn(void *arg, const struct turn_info *info);
MUST_CHECK int turn_list(struct store *st, struct ref session, uint64_t after, turn_fn *fn,
			 void *arg, struct err *err);

/*
 * List all turns that have not ended, in the order of the numbers of their sessions and then
 * of their own. Not 0 from fn ends the walk.
 */
MUST_CHECK int turn_unfinished(struct store *st, waiting_fn *fn, void *arg, struct err *err);

#endif
