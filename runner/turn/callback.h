/*
 * Callbacks: programs that are asked before and after agents, models and tools.
 */
#ifndef RUNNER_TURN_CALLBACK_H
#define RUNNER_TURN_CALLBACK_H

#include "runner/turn/program.h"

struct tool_call;

struct callback_run {
	enum callback_kind kind;
	struct changes *changes;
	const struct tool_call *call; /* NULL: the callbacks are not a tool's */
	/* Make the JSON that each callback gets. -ENOMEM. */
	int (*input)(void *arg, struct buf *out);
	/* Parse what a callback printed. 1: it is the answer, the others are not asked; 0: go on.
	 */
	int (*output)(void *arg, struct span output, struct err *err);
	void *arg;
};

/*
 * Run the agent's callbacks of a kind one after the other, each in a context of its own on top of
 * the changes, which take over what a callback that succeeded changed.
 * 1: one of them answered; a negative errno: the run failed.
 */
MUST_CHECK int callbacks_run(struct agent_run *run, struct callback_run *cb);

#endif
