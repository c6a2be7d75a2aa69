/*
 * The runner: takes messages, and lets agents answer them.
 *
 * A message becomes a turn. Turns of one session run one after the other, in the order submitted;
 * turns of different sessions run side by side, each on a thread of its own, up to a limit. The
 * events of a turn are committed to the store one by one; while the turn runs, its text can be
 * followed piece by piece.
 */
#ifndef RUNNER_RUNNER_H
#define RUNNER_RUNNER_H

#include "runner/turn/host.h"
#include "store/turn/turn.h"
#include "store/tx/store.h"

#define RUNNER_TURNS_MAX 1024  /* turns that run at the same time */
#define RUNNER_QUEUE_MAX 1000  /* turns of one session that wait */
#define RUNNER_LIST_MAX  10000 /* turns that wait, when they are listed */
#define RUNNER_CALLS_MAX 500   /* model calls of one turn: ADK's max_llm_calls */

struct runner;
struct agents;
struct live;

struct runner_options {
	struct store *store;
	const char *agents;            /* folder of agent folders, absolute; NULL: none */
	unsigned turns_max;            /* 0: RUNNER_TURNS_MAX */
	unsigned calls_max;            /* 0: RUNNER_CALLS_MAX */
	const struct sandbox *sandbox; /* for programs, outlives the runner; NULL: none */
	struct turn_hooks hooks;
};

/*
 * Make a runner. Its threads start with the first turn. The caller keeps the strings of the options
 * alive as long as the runner. Returns 0; -ENOMEM.
 */
MUST_CHECK int runner_new(const struct runner_options *options, struct runner **out,
			  struct err *err);

/*
 * Continue the work of an earlier process, once and before the first message: fail the turns that
 * were running (ABORTED), run the turns and compactions that were waiting, and submit the staged
 * messages.
 */
MUST_CHECK int runner_recover(struct runner *rn, struct err *err);

/*
 * Refuse new messages, fail the running turns, and end the MCP servers. Returns when all of them
 * have ended. Waiting turns stay in the store and run at the next start.
 */
void runner_stop(struct runner *rn);

/* Free the runner after runner_stop(), when nobody uses it any more. NULL is fine. */
void runner_free(struct runner *rn);

/*
 * Check whether a message to this app could be taken now. 0; -ENXIO: the app has no agent, or the
 * agent does not load; -ESHUTDOWN: the daemon is stopping; -EBUSY: too many turns of the session
 * wait. Any thread.
 */
MUST_CHECK int runner_check(struct runner *rn, struct ref session, const char *app,
			    struct err *err);

/*
 * Start a turn: append the message to the session, then run its agent.
 *
 * The message is durable when this returns 0; the turn itself runs on a worker thread. staged: the
 * number of the staged message that becomes the turn, or 0. message: the event that message_parse()
 * made; its `temp:` keys last for this turn.
 *
 * Returns 0; -ESTALE: no such session; -EBUSY: too many turns wait; -ESHUTDOWN: the daemon is
 * stopping; -EINVAL: the message answers a call that nobody made. Any thread.
 */
MUST_CHECK int runner_submit(struct runner *rn, struct ref session, uint64_t staged,
			     struct event *message, struct err *err);

/*
 * Cancel what a session is doing: the running turn or, if none runs, the first waiting one. The
 * turn fails as CANCELLED and keeps its text so far; later turns run. A compaction in its place is
 * dropped. Does nothing in an idle session. Does not wait. Any thread.
 */
void runner_cancel(struct runner *rn, struct ref session);

/*
 * Compact the session (history/compact.h) after the turns that wait now, and before later ones.
 * Does not wait; a compaction that has not run stays in the store. Returns 0; -ESTALE: no such
 * session; -ENXIO: no agent; -ESHUTDOWN: the daemon is stopping. Any thread.
 */
MUST_CHECK int runner_compact(struct runner *rn, struct ref session, struct err *err);

/* Whether a turn or a compaction of the session runs or waits. */
bool runner_is_busy(struct runner *rn, struct ref session);

/* Cancel all turns and compactions of a session that is removed. */
void runner_forget(struct runner *rn, struct ref session);

/*
 * Set the `temp:` keys of a JSON object. They last until the current or the next turn ends.
 * -ENOMEM.
 */
MUST_CHECK int runner_set_temp(struct runner *rn, struct ref session, struct span delta,
			       struct err *err);

/* The contexts of all turns (live/context.h). */
struct contexts *runner_contexts(struct runner *rn);

/* The agents of all apps (agent/agents.h). */
struct agents *runner_agents(struct runner *rn);

/* Counts for status. */
struct runner_stats {
	unsigned running;
	unsigned waiting;
	uint64_t turns;  /* ended since the start */
	uint64_t failed; /* among these turns */
	uint64_t model_calls;
	uint64_t tool_calls;
};
void runner_stats(struct runner *rn, struct runner_stats *out);

/*
 * Call fn for turns of all sessions: the last RECENT_TURNS that ended, the oldest first, then the
 * turns that run, then at most RUNNER_LIST_MAX of the turns that wait. If fn
 * returns anything but 0, the list ends and that value is returned.
 */
typedef int runner_turn_fn(void *arg, struct ref session, uint64_t n);
MUST_CHECK int runner_turns(struct runner *rn, runner_turn_fn *fn, void *arg, struct err *err);

/* A turn that runs or waits, one reference; NULL: there is none, or it has ended. */
struct live *runner_live(struct runner *rn, struct ref session, uint64_t n);

#endif
