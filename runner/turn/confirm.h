/*
 * Confirmations: calls that a person has to allow.
 */
#ifndef RUNNER_TURN_CONFIRM_H
#define RUNNER_TURN_CONFIRM_H

#include "runner/history/speaker.h"
#include "runner/turn/call.h"

/*
 * Ask a person about the calls that need it, in an event of its own; *actions gets what the event
 * of the answers has to say about it.
 */
MUST_CHECK int confirm_ask(struct agent_run *run, const struct tool_call *calls, size_t n,
			   struct buf *actions);

/* The call that a response decides about. */
struct decision {
	struct content *request; /* that asked */
	struct span asked;       /* the call that the request shows, as JSON; borrowed from it */
	struct caller caller;    /* the call */
	bool is_same;            /* the call is what the request showed */
	bool approved;           /* the call may be made */
};

/* d: all zero. n: the turn of the response. 1: it decides about no call that still waits. */
MUST_CHECK int decision_find(struct store *st, struct ref session, uint64_t n,
			     const struct part *answer, struct decision *d, struct err *err);
void decision_release(struct decision *d);

/* A call that the newest message decides about. */
struct confirmed {
	char *id;
	char *name;
	struct buf args;
	bool approved;
	const char *reason; /* not approved: why */
};
MUST_CHECK int confirm_find(struct agent_run *run, struct confirmed **list, size_t *n);
void confirm_free(struct confirmed *list, size_t n);

/* Whether a response only says that a person has to be asked. */
bool confirm_is_placeholder(const struct part *response);
/* 1: the newest message has only confirmations, and decides about no call of this agent. */
MUST_CHECK int confirm_is_spent(struct agent_run *run);

#endif
