/*
 * Programs as agents: each line that they print is an event.
 */
#ifndef RUNNER_TURN_PROGRAM_AGENT_H
#define RUNNER_TURN_PROGRAM_AGENT_H

#include "runner/turn/run.h"

/* 0, also when it paused; a negative errno: run->failure says why. */
MUST_CHECK int program_agent_run(struct agent_run *run);

#endif
