/*
 * An invocation: one turn, from its user event to its last.
 */
#ifndef RUNNER_TURN_INVOCATION_H
#define RUNNER_TURN_INVOCATION_H

#include "runner/live/live.h"

struct invocation_host {
	struct store *store;
	const struct runner_options *options;
	struct contexts *contexts;
	struct pasts *pasts;
	/* Append the `temp:` keys of the session as an object; nothing without any. */
	int (*temp)(void *arg, struct ref session, struct buf *object);
	/* Lay an object of `temp:` keys over them. */
	int (*set_temp)(void *arg, struct ref session, struct span delta, struct err *err);
	void *arg;
	_Atomic uint64_t *model_calls; /* counters, only added to */
	_Atomic uint64_t *tool_calls;
};

/*
 * Run the turn to its end and mark it in the store. tree: NULL when it does
 * not load, why then says so. Returns 0, or a negative errno when the turn failed.
 */
MUST_CHECK int invocation_run(const struct invocation_host *host, struct live *live,
			      struct agent_tree *tree, const struct err *why);

/* Close a turn that an earlier process left running. */
MUST_CHECK int invocation_abort(struct store *st, struct ref session, uint64_t n, struct err *err);

#endif
