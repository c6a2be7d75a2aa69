/*
 * Pauses: calls that wait for an answer, and the workflow agents that wait for their callers.
 *
 * A pause has the turn that paused and the turns that resumed it.
 */
#ifndef RUNNER_TURN_PAUSE_H
#define RUNNER_TURN_PAUSE_H

#include "runner/turn/run.h"

/* The place where a workflow agent stopped last. */
struct pause_place {
	char *agent;
	char *sub; /* NULL: the agent has ended since */
	unsigned times_looped;
	bool escalated; /* a loop ends there */
};

/* A call that has no answer. */
struct open_call {
	char *id;
	char *agent;
	char *branch; /* "": none */
	uint64_t turn;
};

struct pause {
	/* the agent that is resumed; set by the caller */
	const struct agent *agent;
	const char *branch; /* "": none */

	struct buf invocations; /* of its turns, each with a NUL */
	struct buf places;      /* of struct pause_place */
	struct buf open;        /* of struct open_call */
	bool is_one;            /* its first turn left calls open */
	bool has_waited;        /* an answer to the resumed agent came in a later turn */
};

/* Read the pause of a turn from the log. */
MUST_CHECK int pause_load(struct pause *p, struct invocation *in, const char *invocation,
			  struct err *err);
void pause_release(struct pause *p);

/* The calls without an answer. */
struct open_call *pause_open_calls(const struct pause *p, size_t *n);
/* The place where an agent stopped; NULL: it did not. */
struct pause_place *pause_find_place(const struct pause *p, const char *agent);
/* Whether the resumed agent made this call. */
bool pause_is_callers(const struct pause *p, const struct open_call *call);

/* A text of a line as a string of its own; "" when it is absent. NULL: out of memory. */
char *pause_text(struct span json);

#endif
