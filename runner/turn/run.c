/*
 * Runs: see run.h.
 */
#include "runner/turn/run.h"

struct agent_run run_below(struct agent_run *parent, struct agent *agent)
{
	return (struct agent_run){ .sink = parent->sink,
				   .agent = agent,
				   .above = parent,
				   .branch = parent->branch,
				   .depth = parent->depth,
				   .failure = parent->failure };
}

void run_join(struct agent_run *parent, const struct agent_run *child)
{
	parent->escalated |= child->escalated;
	parent->paused |= child->paused;
}

struct stateview *run_state(const struct agent_run *run)
{
	return run->waiting.in ? run->waiting.state : run->sink->state;
}

bool run_streams(const struct agent_run *run)
{
	const struct agent *agent = run->agent;

	return !run->sink->nested && !agent->callbacks[AFTER_MODEL].count && !agent->output_schema;
}
