/*
 * Runs: agents at work in a turn, and why a turn fails.
 *
 * An invocation is a turn that runs. Each agent that works in it has an agent_run. A run puts its
 * events into a sink: the session, or, below an agent that is called as a tool, a log in memory.
 */
#ifndef RUNNER_TURN_RUN_H
#define RUNNER_TURN_RUN_H

#include "runner/agent/agent.h"
#include "runner/live/live.h"
#include "runner/turn/changes.h"
#include "runner/turn/host.h"
#include "store/turn/call.h"

struct invocation {
	/* fixed */
	const struct invocation_host *host;
	struct live *live;
	struct agent_tree *tree;
	struct stateview_source source;
	struct buf user_content; /* canonical JSON of the turn's message */

	/*
	 * Points at run_agent() of work.h, which runs an agent. Tools and sub-agents may be
	 * agents too, so files that work.c calls must call back; this pointer is that call.
	 */
	int (*run_agent)(struct agent_run *run);

	atomic_uint model_calls;
};

struct event_sink {
	struct invocation *in;
	struct stateview *state; /* the state that the agents see */
	struct span message;     /* the user's Content, canonical JSON; empty: none */
	bool nested;             /* a log in memory, of an agent that is called as a tool */

	struct mutex lock;
	/* nested: the log, and the saves and contexts that wait for the event of the call */
	struct buf lines GUARDED_BY(lock);
	struct buf saves GUARDED_BY(lock);    /* struct save */
	struct buf contexts GUARDED_BY(lock); /* struct context * */
};

/*
 * Why a turn fails, and what its last event still has. The first failure of a run counts: calls of
 * one run may fail side by side.
 */
struct failure {
	char name[64]; /* errorCode; "" for MODEL_ERROR */
	char *agent;   /* NULL: the root */
	char *branch;
	struct content *answer; /* texts of an answer that broke off; NULL: none */
	char *finish_reason;
	struct buf usage;
	uint64_t streamed;      /* bytes of the answer's text that were shown already */
	struct changes changes; /* of model callbacks; the event of the failure has them */
	struct err err;
};

struct agent_run {
	struct event_sink *sink;
	struct agent *agent;
	const struct agent_run *above; /* the run whose agent has this sub-agent; NULL: none */
	const char *branch;            /* NULL: none */
	unsigned depth;                /* nesting of agents that are called as tools; 0: none */
	struct failure *failure;

	bool escalated; /* an event of this run, or of a run below, has `escalate` */
	bool paused;    /* the agent waits for an answer from outside */

	/* LlmAgent: the call of the model that is under way */
	struct call_report model_call; /* started is 0 when no call waits to be reported */
	uint64_t asked_at;             /* monotonic */
	uint64_t streamed;             /* bytes of the answer's text that were shown already */
	struct changes waiting;        /* of callbacks, for the next event */
	struct {                       /* partial.c */
		struct buf middle;     /* the members that the events of all pieces share */
		struct buf line;       /* the last event of a piece; scratch */
	} partial;
	json_t *artifacts; /* names of the artifacts for the next prompt; NULL: none */

	struct agent *transfer; /* the agent that continues in place of this one; NULL: none */
	struct buf transferred; /* struct agent *: agents that transferred in this run */
};

/* Make the run of a sub-agent in the run of its parent. */
struct agent_run run_below(struct agent_run *parent, struct agent *agent);
/* Note in the parent's run how the sub-agent's run ended. */
void run_join(struct agent_run *parent, const struct agent_run *child);

/* The state that the run sees: its sink's, with the changes that wait for an event on top. */
struct stateview *run_state(const struct agent_run *run);

/* Whether pieces of an answer are shown as they come, in the stream and in the output. */
bool run_streams(const struct agent_run *run);

/*
 * Set run->failure, unless the run has failed before. name: the errorCode, or NULL. Return the
 * code of the failure that counts. Any thread of the run.
 */
int run_fail(struct agent_run *run, const char *name, const struct err *err);
int run_fail_text(struct agent_run *run, const char *name, int code, const char *fmt, ...)
	PRINTF(4, 5);
int run_nomem(struct agent_run *run);

/* Returns 0; -ECANCELED: the turn was cancelled, and the run is now failed. */
MUST_CHECK int run_check_cancelled(struct agent_run *run);

/* Free the members and make all zero. */
void failure_release(struct failure *f);

#endif
