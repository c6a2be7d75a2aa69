/*
 * Invocations: one turn, from its user event to its last.
 */
#ifndef RUNNER_TURN_INVOCATION_H
#define RUNNER_TURN_INVOCATION_H

#include "runner/live/live.h"
#include "runner/turn/host.h"

struct agent_tree;

/*
 * Run the turn to its end and mark it in the store. tree: NULL when the agent does not load; why
 * has the reason then. Returns 0, or a negative errno when the turn failed.
 */
MUST_CHECK int invocation_run(const struct invocation_host *host, struct live *live,
			      struct agent_tree *tree, const struct err *why);

/*
 * Close a turn that an earlier process left running: answer the calls that it left open, and end
 * it as failed (ABORTED).
 */
MUST_CHECK int invocation_abort(struct store *st, struct ref session, uint64_t n, struct err *err);

#endif
