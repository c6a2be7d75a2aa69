/*
 * Workflow agents: sequences, loops, and agents side by side.
 */
#ifndef RUNNER_TURN_WORKFLOW_H
#define RUNNER_TURN_WORKFLOW_H

#include "runner/turn/run.h"

/* 0, also when it paused; a negative errno: run->failure says why. */
MUST_CHECK int workflow_run(struct agent_run *run);
/* Go on after this sub-agent, in this pass of a loop. Returns what workflow_run() does. */
MUST_CHECK int workflow_go_on(struct agent_run *run, const struct agent *after,
			      unsigned times_looped);

/* Commit an event with the place where a paused workflow agent will go on. */
MUST_CHECK int workflow_place(struct agent_run *run, const char *sub, unsigned times_looped);

#endif
