/*
 * Pauses: what of the log belongs to calls that wait, and to who waits around them.
 *
 * To a pause belong the turn that paused and those that went on with it.
 */
#ifndef RUNNER_TURN_PAUSE_H
#define RUNNER_TURN_PAUSE_H

#include "runner/turn/run.h"

/* Where a workflow agent stopped last. */
struct pause_place {
	char *agent;
	char *sub; /* NULL: it has ended since */
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
	/* who is resumed */
	const struct agent *agent;
	const char *branch; /* "": none */

	struct buf invocations; /* that belong to it, each with a NUL */
	struct buf places;      /* of struct pause_place */
	struct buf open;        /* of struct open_call */
	bool is_one;            /* its first turn left calls open */
	bool has_waited;        /* an answer to who is resumed came in a later turn */
};

/* Read the pause to which a turn belongs. What says who is resumed is set before. */
MUST_CHECK int pause_load(struct pause *p, struct invocation *in, const char *invocation,
			  struct err *err);
void pause_release(struct pause *p);

/* Its calls without an answer. */
struct open_call *pause_open_calls(const struct pause *p, size_t *n);
/* Where an agent stopped; NULL: it did not. */
struct pause_place *pause_find_place(const struct pause *p, const char *agent);
/* Whether who is resumed made this call. */
bool pause_is_callers(const struct pause *p, const struct open_call *call);

/* A text of a line as a string of its own; "" when it is absent. NULL: out of memory. */
char *pause_text(struct span json);

#endif
