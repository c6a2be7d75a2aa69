/*
 * Summaries: what compaction asks of an app's model.
 */
#ifndef RUNNER_SUMMARY_H
#define RUNNER_SUMMARY_H

#include "base/cancel.h"
#include "runner/agent/agent.h"
#include "runner/history/compact.h"

/* For compact_session(). */
struct summary_source {
	const struct agent_tree *tree;
	struct cancel *cancel;
	_Atomic uint64_t *model_calls; /* counter, only added to */
};

/*
 * Ask the root agent's model, or that of the first agent that has one, without instruction or
 * tools. arg: summary_source. -ENXIO: no agent has a model.
 */
MUST_CHECK int summary_ask(void *arg, struct span prompt, struct compact_summary *summary,
			   struct err *err);

#endif
