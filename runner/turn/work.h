/*
 * Work: what agents do in a turn, each kind in its way.
 *
 * All functions return 0 when the agent is done, paused or transferred; after a negative errno
 * run->failure says why.
 */
#ifndef RUNNER_TURN_WORK_H
#define RUNNER_TURN_WORK_H

#include "runner/turn/run.h"

/*
 * Let an agent work until it is done: its before_agent callbacks, the work of its kind, the agents
 * that it transfers to, and the after_agent callbacks.
 */
MUST_CHECK int run_agent(struct agent_run *run);

/*
 * The parts of run_agent() after before_agent, for an agent that continues after a pause. Each
 * gets as `worked` what the part before it returned.
 *
 * run_own_work: the work of the agent itself, from its beginning.
 * run_transfers: the work of the agents that it transfers to. Returns 1 if a before_agent callback
 * answered in place of the last one, whose after_agent callbacks are left out then.
 * run_agent_end: the after_agent callbacks of all agents that are done with the run, the last one
 * first; none while the run is paused. Makes run->agent `own` again. The caller releases
 * run->transferred.
 */
MUST_CHECK int run_own_work(struct agent_run *run);
MUST_CHECK int run_transfers(struct agent_run *run, int worked);
MUST_CHECK int run_agent_end(struct agent_run *run, struct agent *own, int worked);

/* LlmAgents: ask the model and run the tools that it called, step by step. */
MUST_CHECK int llm_run(struct agent_run *run);

/* Programs as agents: each line that the program prints is an event. */
MUST_CHECK int program_agent_run(struct agent_run *run);

/* Workflow agents: sub-agents in a sequence, in a loop, or side by side. */
MUST_CHECK int workflow_run(struct agent_run *run);
/* Let a workflow agent continue after this sub-agent, in this pass of a loop. */
MUST_CHECK int workflow_go_on(struct agent_run *run, const struct agent *after,
			      unsigned times_looped);
/* Commit an event with the sub-agent at which a paused workflow agent will continue. */
MUST_CHECK int workflow_place(struct agent_run *run, const char *sub, unsigned times_looped);

#endif
