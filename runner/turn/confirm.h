/*
 * Confirmations: calls that a person has to allow.
 */
#ifndef RUNNER_TURN_CONFIRM_H
#define RUNNER_TURN_CONFIRM_H

#include "runner/history/speaker.h"
#include "runner/turn/call.h"

/*
 * Ask a person about the calls that need it, in an event of its own. *actions: gets the actions
 * for the event of the answers; the caller releases it. After an error run->failure says why.
 */
MUST_CHECK int confirm_ask(struct agent_run *run, const struct tool_call *calls, size_t n,
			   struct buf *actions);

/* The decision of a response about a call. */
struct decision {
	struct content *request; /* the content that asks */
	struct span asked;       /* the call as the request shows it, JSON; borrowed from it */
	struct caller caller;    /* the call */
	bool is_same;            /* the request shows the call as it was made */
	bool approved;           /* the call may be made */
};

/*
 * Find the call that a response decides about. d: all zero; the caller releases it. n: the turn of
 * the response. 1: it decides about no call that still waits.
 */
MUST_CHECK int decision_find(struct store *st, struct ref session, uint64_t n,
			     const struct part *answer, struct decision *d, struct err *err);
void decision_release(struct decision *d);

/* A call that the newest message decides about. */
struct confirmed {
	char *id;
	char *name;
	struct buf args;
	bool approved;
	const char *reason; /* why the call may not be made */
};
/* List these calls of the run's agent. The caller frees the list. */
MUST_CHECK int confirm_find(struct agent_run *run, struct confirmed **list, size_t *n);
void confirm_free(struct confirmed *list, size_t n);

/* Whether a response only says that a person must be asked. */
bool confirm_is_placeholder(const struct part *response);
/* 1: the newest message has only confirmations, and none of them is about a call of this agent. */
MUST_CHECK int confirm_is_spent(struct agent_run *run);

#endif
