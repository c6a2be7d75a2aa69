/*
 * Callbacks: programs that are asked before and after agents, models and tools.
 */
#ifndef RUNNER_TURN_CALLBACK_H
#define RUNNER_TURN_CALLBACK_H

#include "runner/turn/program.h"

struct tool_call;

/* All borrowed. */
struct callback_run {
	enum callback_kind kind;
	struct changes *changes;
	const struct tool_call *call; /* NULL: the callbacks are not a tool's */
	/* Make the JSON that each callback gets. -ENOMEM. */
	int (*input)(void *arg, struct buf *out);
	/*
	 * Parse the output of a callback. 1: it answers, and no other callback is asked; 0: go on.
	 */
	int (*output)(void *arg, struct span output, struct err *err);
	void *arg;
};

/*
 * Run the agent's callbacks of a kind one after the other, each in a context of its own on top of
 * the changes. The changes of a callback that succeeded are added to them.
 * 0; 1: one of the callbacks answered; a negative errno: run->failure says why.
 */
MUST_CHECK int callbacks_run(struct agent_run *run, struct callback_run *cb);

#endif
