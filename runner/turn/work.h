/*
 * Work: an agent from its before_agent callbacks to its after_agent callbacks.
 */
#ifndef RUNNER_TURN_WORK_H
#define RUNNER_TURN_WORK_H

#include "runner/turn/run.h"

/*
 * Let an agent work until it is done: callbacks, the agent, the agents that it transfers to.
 * 0, also when it paused; a negative errno: run->failure says why.
 */
MUST_CHECK int run_agent(struct agent_run *run);

/*
 * The parts of run_agent() after before_agent, for an agent that goes on after a pause. Each gets
 * what the part before it returned.
 *
 * run_own_work: the work of the agent itself, from its beginning.
 * run_transfers: the work of the agents that it transfers to. 1: a before_agent callback answered
 * in place of the last one, whose after_agent is left out then.
 * run_agent_end: after_agent of all that are done with the run, the last one first; nothing while
 * it is paused. run->agent is `own` again. The caller releases run->transferred.
 */
MUST_CHECK int run_own_work(struct agent_run *run);
MUST_CHECK int run_transfers(struct agent_run *run, int worked);
MUST_CHECK int run_agent_end(struct agent_run *run, struct agent *own, int worked);

#endif
