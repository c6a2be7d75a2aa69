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
#ifndef RUNNER_TOOL_H
#define RUNNER_TOOL_H

#include "base/buf.h"
#include "base/cancel.h"
#include "runner/agent.h"

#include <stdint.h>

struct tool_call {
	/* borrowed */
	const char *id;
	const char *name;
	struct span args; /* JSON object; empty is {} */

	/* the result */
	struct buf response;    /* JSON object; empty: a long-running tool gave none yet */
	struct buf stderr_text; /* of the program */
	uint64_t nsec;
};

void tool_call_release(struct tool_call *call);

/*
 * Answer all calls of one model event, programs side by side. Errors are data:
 * an unknown name, arguments that do not fit the declaration, a program that
 * fails or is late each give {"error": ...} as the response.
 *
 * env: NAME=VALUE, ends with NULL; each child also gets PATH, HOME, LANG and
 * TMPDIR of the daemon where env has them not, ADK_ARGS when the tool has
 * args, and ADK_FUNCTION_CALL_ID. Programs run in the agent's folder.
 *
 * Returns 0; -ECANCELED; -ENOMEM; another -errno: the programs could not be
 * watched. Blocks. Any thread.
 */
MUST_CHECK int tool_run_all(const struct agent *agent, char *const *env, struct tool_call *calls,
			    size_t n, struct cancel *cancel, struct err *err);

#endif
