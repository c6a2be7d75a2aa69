/*
 * Going on after a pause.
 *
 * The answer to a call that a turn left open goes to the agent that called. When that agent is
 * done, the workflow agents around it go on from the places that they have recorded, as soon as
 * nothing below them waits any more.
 */
#ifndef RUNNER_TURN_RESUME_H
#define RUNNER_TURN_RESUME_H

#include "runner/turn/run.h"

/* An agent that gets an answer of the newest message. */
struct resumed {
	struct agent *agent;
	char *branch;           /* "": none */
	char *invocation;       /* id of the turn in which it called */
	struct buf transferred; /* struct agent *: these had transferred to it then */
};

/* List the agents that are still in the tree. */
MUST_CHECK int resumed_find(struct invocation *in, struct resumed **list, size_t *n,
			    struct err *err);
void resumed_free(struct resumed *list, size_t n);

/* Resume each in turn, then the workflow agents around it. */
MUST_CHECK int resumed_run(struct event_sink *sink, struct resumed *list, size_t n,
			   struct failure *failure);

#endif
