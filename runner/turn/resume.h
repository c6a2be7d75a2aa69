/*
 * Resuming: a turn continues after a pause.
 *
 * The answer to a call that a turn left open goes to the agent that called. When that agent is
 * done, and no agent below them waits any more, the workflow agents around it continue from the
 * places that they have recorded.
 */
#ifndef RUNNER_TURN_RESUME_H
#define RUNNER_TURN_RESUME_H

#include "runner/turn/run.h"

/* An agent that gets an answer of the newest message. */
struct resumed {
	struct agent *agent;
	char *branch;           /* "": none */
	char *invocation;       /* id of the turn in which it called */
	struct buf transferred; /* struct agent *: the agents that had transferred to it then */
};

/*
 * List the agents that the newest message answers and the tree still has. The caller frees the
 * list.
 */
MUST_CHECK int resumed_find(struct invocation *in, struct resumed **list, size_t *n,
			    struct err *err);
void resumed_free(struct resumed *list, size_t n);

/* Resume one agent after the other, each with the workflow agents around it. */
MUST_CHECK int resumed_run(struct event_sink *sink, struct resumed *list, size_t n,
			   struct failure *failure);

#endif
