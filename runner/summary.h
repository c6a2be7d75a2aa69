/*
 * Summaries: compaction asks a model of the app for them.
 */
#ifndef RUNNER_SUMMARY_H
#define RUNNER_SUMMARY_H

#include "base/cancel.h"
#include "runner/agent/agent.h"
#include "runner/history/compact.h"

/* The argument of summary_ask(). All borrowed. */
struct summary_source {
	const struct agent_tree *tree;
	struct cancel *cancel;
	_Atomic uint64_t *model_calls; /* counter, only added to */
};

/*
 * The compact_ask_fn of the runner. Ask the root agent's model, or that of the first agent that
 * has one, without instruction and tools. arg: struct summary_source. Returns 0; -ENXIO: no agent
 * has a model; -EIO: the model gave no summary; an error of model_ask(). Blocks.
 */
MUST_CHECK int summary_ask(void *arg, struct span prompt, struct compact_summary *summary,
			   struct err *err);

#endif
