/*
 * Structured answers.
 */
#ifndef RUNNER_TURN_OUTPUT_H
#define RUNNER_TURN_OUTPUT_H

#include "runner/agent/agent.h"

/* Whether the agent's provider takes a schema for the answer, beside tools too. */
bool output_is_native(const struct agent *agent);

/* Check the text of an answer. 0: *value is its canonical JSON; -EINVAL with the reason. */
MUST_CHECK int output_check(const struct agent *agent, struct span text, struct buf *value,
			    struct err *err);

#endif
