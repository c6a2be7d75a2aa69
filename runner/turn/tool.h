/*
 * Tools: calls of a model, answered by programs.
 *
 * The program gets the call's arguments, a JSON object and a newline, on its
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
 * Whether arguments, canonical JSON, fit the tool's declaration: 0; -EINVAL with the
 * reason; -ENOMEM. Any thread.
 */
MUST_CHECK int tool_check_args(const struct tool *tool, struct span args, struct err *reason);

/*
 * Append what the model gets for what a program printed. 0; -EILSEQ: it is not UTF-8; -ENOMEM.
 */
MUST_CHECK int tool_response(const struct tool *tool, struct span output, struct buf *response);

/* Run the program of a call. 0: the call has its response; a negative errno: the turn fails. */
MUST_CHECK int call_program(struct tool_call *call, struct err *err);

#endif
