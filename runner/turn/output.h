/*
 * Structured answers: an agent with an output_schema answers with JSON that fits it.
 */
#ifndef RUNNER_TURN_OUTPUT_H
#define RUNNER_TURN_OUTPUT_H

#include "runner/agent/agent.h"

/* Whether the agent's provider takes a schema for the answer, even beside tools. */
bool output_is_native(const struct agent *agent);

/* Check the text of an answer. 0: *value is its canonical JSON; -EINVAL with the reason. */
MUST_CHECK int output_check(const struct agent *agent, struct span text, struct buf *value,
			    struct err *err);

#endif
