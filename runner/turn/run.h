/*
 * Runs: agents at work in a turn.
 *
 * An invocation is a turn that runs. Each agent that works in it is an agent_run. Runs put their
 * events into a sink: the session, or, for an agent that is called as a tool, a log in memory.
 */
#ifndef RUNNER_TURN_RUN_H
#define RUNNER_TURN_RUN_H

#include "runner/agent/agent.h"
#include "runner/live/live.h"
#include "runner/turn/changes.h"
#include "runner/turn/host.h"
#include "store/turn/call.h"

struct failure;

struct invocation {
	/* fixed */
	const struct invocation_host *host;
	struct live *live;
	struct agent_tree *tree;
	struct stateview_source source;
	struct buf user_content; /* canonical JSON of the turn's message */

	/*
	 * run_agent() of work.h. An agent's tools and sub-agents are agents again: this is the
	 * one real recursion of a turn, and the pointer keeps it out of the order of the files.
	 */
	int (*run_agent)(struct agent_run *run);

	atomic_uint model_calls;
};

struct event_sink {
	struct invocation *in;
	struct stateview *state; /* what its agents see */
	struct span message;     /* the user's Content, canonical JSON; empty: none */
	bool nested;             /* a log in memory, of an agent that is called as a tool */

	struct mutex lock;
	/* nested: the log, and what waits for the event of the call */
	struct buf lines GUARDED_BY(lock);
	struct buf saves GUARDED_BY(lock);    /* struct save */
	struct buf contexts GUARDED_BY(lock); /* struct context * */
};

struct agent_run {
	struct event_sink *sink;
	struct agent *agent;
	const struct agent_run *above; /* of the agent whose sub-agent this is; NULL: none */
	const char *branch;            /* NULL: none */
	unsigned depth;                /* agents that are tools, one in the other */
	struct failure *failure;

	bool escalated; /* an event of it or of a run below has `escalate` */
	bool paused;    /* it waits for an answer from outside */

	/* LlmAgent: the call of the model that is under way */
	struct call_report model_call; /* started 0: an event or a report has it */
	uint64_t asked_at;             /* monotonic */
	uint64_t streamed;             /* bytes of the answer's text that were shown already */
	struct changes waiting;        /* of callbacks, for the next event */
	struct {                       /* partial.c */
		struct buf middle;     /* what events of pieces have in common */
		struct buf line;       /* the last event of a piece; scratch */
	} partial;
	json_t *artifacts; /* names of those that the next prompt carries; NULL: none */

	struct agent *transfer; /* the agent that goes on in its place; NULL: none */
	struct buf transferred; /* struct agent *: these transferred, and end when it does */
};

/* A sub-agent at work in the run of its parent. */
struct agent_run run_below(struct agent_run *parent, struct agent *agent);
/* Note in the parent's run how the sub-agent's ended. */
void run_join(struct agent_run *parent, const struct agent_run *child);

/* The state that the run sees: its sink's, with the changes that wait for an event on top. */
struct stateview *run_state(const struct agent_run *run);

/* Whether pieces of an answer are shown as they come, in the stream and in the output. */
bool run_streams(const struct agent_run *run);

#endif
