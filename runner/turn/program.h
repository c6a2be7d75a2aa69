/*
 * Programs of a run: their contexts and environments, and how they ended.
 */
#ifndef RUNNER_TURN_PROGRAM_H
#define RUNNER_TURN_PROGRAM_H

#include "runner/process/process.h"
#include "runner/turn/run.h"

/*
 * Open a context for a program. The caller sets kind, name and below in the spec, and for a tool
 * the call; this sets the members of the run.
 */
MUST_CHECK int run_open_context(struct agent_run *run, struct context_spec spec,
				struct context **out, struct err *err);

/*
 * Run a program in a context. The caller sets p->input and p->on_line, and releases the result.
 * 0, even when the program failed; -ECANCELED; -ENOMEM. Blocks.
 */
MUST_CHECK int run_program(struct agent_run *run, const struct program *program,
			   struct context *ctx, struct process *p, struct err *err);

/*
 * Why a program failed: a text that borrows from `reason`, which is empty before. NULL: it
 * succeeded.
 */
const char *process_reason(const struct process *p, struct buf *reason);

#endif
