/*
 * LlmAgents: steps of asking the model and running the tools that it called.
 */
#ifndef RUNNER_TURN_LLM_H
#define RUNNER_TURN_LLM_H

#include "runner/turn/run.h"

/* 0, also when it paused or transferred; a negative errno: run->failure says why. */
MUST_CHECK int llm_run(struct agent_run *run);

#endif
