/*
 * Tools: how each kind of tool answers a call.
 *
 * The program of a tool gets the call's arguments, a JSON object and a newline, on its
 * standard input. What it prints becomes the response, a JSON object:
 *
 *   an object		that object
 *   other JSON		{"result": value}, numbers as they are written
 *   other text		{"result": "text"}, one final newline cut
 *   nothing		{"result": null}; of a long-running tool: no response
 */
#ifndef RUNNER_TURN_TOOL_H
#define RUNNER_TURN_TOOL_H

#include "runner/agent/agent.h"
#include "runner/process/process.h"
#include "runner/turn/call.h"

/*
 * Check that arguments, canonical JSON, fit the tool's declaration. 0; -EINVAL with the reason;
 * -ENOMEM. Any thread.
 */
MUST_CHECK int tool_check_args(const struct tool *tool, struct span args, struct err *reason);

/*
 * Append the response to a call whose program printed this. 0; -EILSEQ: the output is not UTF-8;
 * -ENOMEM. Any thread.
 */
MUST_CHECK int tool_response(const struct tool *tool, struct span output, struct buf *response);

/*
 * Answer a call: run the tool's program; run its agent, in a session of its own in memory; or do
 * what a built-in tool does. 0: the call has its response; a negative errno: the turn fails.
 */
MUST_CHECK int call_program(struct tool_call *call, struct err *err);
MUST_CHECK int call_agent(struct tool_call *call, struct err *err);
MUST_CHECK int call_transfer(struct tool_call *call, struct err *err);
MUST_CHECK int call_exit_loop(struct tool_call *call, struct err *err);
MUST_CHECK int call_load_memory(struct tool_call *call, struct err *err);
MUST_CHECK int call_load_artifacts(struct tool_call *call, struct err *err);
MUST_CHECK int call_model_response(struct tool_call *call, struct err *err);

#endif
