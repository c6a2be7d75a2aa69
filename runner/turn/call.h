/*
 * Calls: one call of a tool, and the answer that is being made.
 */
#ifndef RUNNER_TURN_CALL_H
#define RUNNER_TURN_CALL_H

#include "base/err.h"
#include "runner/turn/offer.h"
#include "runner/turn/program.h"

struct tool_call {
	struct agent_run *run;
	const struct offer *offer;
	const struct tool *tool; /* NULL: no tool has that name */
	const char *id;
	const char *name;
	struct buf args;   /* canonical object; callbacks may change it */
	struct buf logged; /* the args as the log has them */
	struct changes changes;
	bool approved;          /* a person has confirmed the call */
	const char *reason;     /* a confirmation did not allow the call: the error; or NULL */
	bool asks;              /* the call waits for a confirmation */
	struct agent *transfer; /* the agent that its actions transfer to; NULL: none */
	struct buf response;    /* JSON object; empty: none yet */
	struct buf stderr_text;
	uint64_t nsec;
	struct err err; /* code not 0: the turn fails */
};

void call_release(struct tool_call *call);

/*
 * Run the callbacks before the tool, the tool, and the callbacks after it. Sets the response, or
 * err: run->failure says why then. Calls of one run may be made side by side.
 */
void call_run(struct tool_call *call);

/* Set the response to {"error": text}. -ENOMEM. */
MUST_CHECK int call_error(struct tool_call *call, const char *fmt, ...) PRINTF(2, 3);

/* Answer that there is no such agent to transfer to. -ENOMEM. */
MUST_CHECK int call_no_target(struct tool_call *call, const char *name);

/* Drop everything that the call changed. -ENOMEM. */
MUST_CHECK int call_drop(struct tool_call *call);

/* The context for a program that is run for the call; borrows from the call. */
struct context_spec call_context(const struct tool_call *call);

#endif
