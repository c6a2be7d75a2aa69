/*
 * One call at work: what is asked before it, the tool, what is asked after it.
 */
#ifndef RUNNER_TURN_CALL_RUN_H
#define RUNNER_TURN_CALL_RUN_H

#include "runner/turn/call.h"

/* Set the response, or err: the turn fails then, and run->failure says why. */
void call_run(struct tool_call *call);

#endif
