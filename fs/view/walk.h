/*
 * A walk over a session's events, turn by turn: what views are rendered from.
 *
 * Turns come in order, and with each its events in the order of the log, so
 * that a message which waited stands before its answer and not in that of
 * another. An event of no turn comes after what it follows in the log.
 */
#ifndef FS_VIEW_WALK_H
#define FS_VIEW_WALK_H

#include "store/turn/call.h"

struct walk_turn {
	struct turn_info info;
	struct call_info *calls; /* in order */
	size_t call_count;
};

/* Members of an event that views look at. */
enum walk_member {
	WALK_CONTENT,
	WALK_MODEL_VERSION,
	WALK_ERROR_CODE,
	WALK_ERROR_MESSAGE,
	WALK_INTERRUPTED,
	WALK_CUSTOM_METADATA,
	WALK_USAGE,
	WALK_INVOCATION,
	WALK_AUTHOR,
	WALK_ACTIONS,
	WALK_LONG_RUNNING,
	WALK_TIMESTAMP,
	WALK_MEMBERS,
};

struct walk_event {
	const struct walk_turn *turn;     /* that it belongs to; NULL: to none */
	uint64_t at;                      /* where in the log */
	struct span member[WALK_MEMBERS]; /* canonical JSON; len 0: absent */
};

/* Called in order; not 0 ends the walk. Unset: not called. */
struct walk {
	int (*turn)(void *arg, const struct walk_turn *turn);
	int (*event)(void *arg, const struct walk_event *e);
	void *arg;
};

/* All of a session. Returns what a function returned, or an error. */
MUST_CHECK int walk_session(struct store *st, struct ref session, const struct walk *walk,
			    struct err *err);

/* One turn. */
MUST_CHECK int walk_one_turn(struct store *st, struct ref session, uint64_t n,
			     const struct walk *walk, struct err *err);

#endif
