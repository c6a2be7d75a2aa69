/*
 * Tools: calls of a model, answered by programs.
 */
#ifndef RUNNER_TOOL_H
#define RUNNER_TOOL_H

#include "runner/agent.h"
#include "base/buf.h"
#include "base/cancel.h"

#include <stdint.h>

struct tool_call {
	/* borrowed */
	const char *id;
	const char *name;
	struct span args; /* JSON object */

	/* the result */
	struct buf response;	/* JSON object; empty: a long-running tool gave none yet */
	struct buf stderr_text; /* of the program */
	uint64_t nsec;
};

void tool_call_release(struct tool_call *call);

/*
 * Answer all calls of one model event, programs side by side. Errors are data:
 * an unknown name, arguments that do not fit the declaration, a program that
 * fails or is late each give {"error": ...} as the response.
 *
 * env: NAME=VALUE, ends with NULL; each child also gets PATH, HOME, LANG,
 * TMPDIR, ADK_ARGS when the tool has args, and ADK_FUNCTION_CALL_ID.
 * Returns 0; -ECANCELED; -ENOMEM. Blocks.
 */
MUST_CHECK int tool_run_all(const struct agent *agent, char *const *env, struct tool_call *calls,
			    size_t n, struct cancel *cancel, struct err *err);

#endif
