/*
 * Walks: the events of a session, turn by turn. Views are rendered from them.
 *
 * Turns come in the order of their numbers. The events of a turn come in the
 * order of the log, so that a message that waited stands before its own answer
 * and not inside of another one. An event without a turn comes after the event
 * that it follows in the log.
 */
#ifndef FS_VIEW_WALK_H
#define FS_VIEW_WALK_H

#include "store/turn/call.h"

struct walk_turn {
	struct turn_info info;
	struct call_info *calls; /* in the order of their numbers */
	size_t call_count;
};

/* The members of an event that views read. */
enum walk_member {
	WALK_CONTENT,
	WALK_MODEL_VERSION,
	WALK_ERROR_CODE,
	WALK_ERROR_MESSAGE,
	WALK_CUSTOM_METADATA,
	WALK_USAGE,
	WALK_INVOCATION,
	WALK_AUTHOR,
	WALK_ACTIONS,
	WALK_MEMBERS,
};

struct walk_event {
	const struct walk_turn *turn;     /* NULL: the event belongs to no turn */
	uint64_t at;                      /* offset of the event's line in the log */
	struct span member[WALK_MEMBERS]; /* canonical JSON; len 0: absent */
};

/* The functions that a walk calls. Each one may be NULL; a result other than 0 ends the walk. */
struct walk {
	int (*turn)(void *arg, const struct walk_turn *turn);
	int (*event)(void *arg, const struct walk_event *e);
	void *arg;
};

/* Walk a session. Returns 0, the result of a function that ended the walk, or an error. */
MUST_CHECK int walk_session(struct store *st, struct ref session, const struct walk *walk,
			    struct err *err);

/* Walk one turn, with the same results. */
MUST_CHECK int walk_one_turn(struct store *st, struct ref session, uint64_t n,
			     const struct walk *walk, struct err *err);

#endif
