/*
 * Built-in tools at work.
 *
 * Each returns 0 when the call has its response; after a negative errno the turn fails.
 */
#ifndef RUNNER_TURN_BUILTINS_H
#define RUNNER_TURN_BUILTINS_H

#include "runner/turn/call.h"

MUST_CHECK int call_transfer(struct tool_call *call, struct err *err);
MUST_CHECK int call_exit_loop(struct tool_call *call, struct err *err);
MUST_CHECK int call_load_memory(struct tool_call *call, struct err *err);
MUST_CHECK int call_load_artifacts(struct tool_call *call, struct err *err);
MUST_CHECK int call_model_response(struct tool_call *call, struct err *err);

#endif
