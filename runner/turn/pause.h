/*
 * Pauses: calls that wait for an answer, and the workflow agents that wait for their callers.
 *
 * A pause begins with the turn that paused, and has all turns that resumed it.
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
	/* set by the caller: the agent that is resumed, and its branch */
	const struct agent *agent;
	const char *branch; /* "": none */

	struct buf invocations; /* ids of its turns, each with a NUL */
	struct buf places;      /* of struct pause_place */
	struct buf open;        /* of struct open_call */
	bool is_one;            /* the first turn left calls open: it did pause */
	bool has_waited;        /* a later turn answered a call of the resumed agent */
};

/* Read the pause of a turn from the log. The caller releases it, even after an error. */
MUST_CHECK int pause_load(struct pause *p, struct invocation *in, const char *invocation,
			  struct err *err);
void pause_release(struct pause *p);

/* The calls without an answer. */
struct open_call *pause_open_calls(const struct pause *p, size_t *n);
/* The place where an agent stopped last; NULL: it did not stop. */
struct pause_place *pause_find_place(const struct pause *p, const char *agent);
/* Whether the resumed agent made this call. */
bool pause_is_callers(const struct pause *p, const struct open_call *call);

/* Copy a JSON text as a string, "" when it is absent. The caller frees it. NULL: out of memory. */
char *pause_text(struct span json);

#endif
