/*
 * Conversations: the runner from inside, for the files that it is made of.
 *
 * A session has a conversation while its turns or compactions run or wait, and while it has `temp:`
 * keys. Its first turn runs, or is the next to run. A worker takes a conversation from the ready
 * list, runs one turn or one compaction, and puts the conversation back.
 */
#ifndef RUNNER_CONVERSATION_H
#define RUNNER_CONVERSATION_H

#include "base/mutex.h"
#include "runner/agent/agents.h"
#include "runner/history/past_cache.h"
#include "runner/recent.h"
#include "runner/runner.h"
#include "runner/turn/invocation.h"

#define CONVERSATION_BUCKETS 1024

/* A compaction that waits or runs. */
struct compaction {
	uint64_t after; /* the turn that it follows; 0: it comes first */
	bool is_asked;  /* by a user; else it needs enough new turns */
	bool is_cancelled;
};

/* The turns and compactions of a session that run or wait. runner.lock guards all members. */
struct conversation {
	struct ref ref;
	struct conversation *next;  /* in its bucket */
	struct conversation *ready; /* the next one in the ready list */
	struct live *first;         /* the turn that runs, or is next */
	unsigned turns;             /* that run or wait */
	bool running;               /* the first turn, or the first compaction */
	bool compacting;            /* a compaction runs, not a turn */
	struct cancel *stop;        /* ends the compaction that runs; NULL: none runs */
	struct buf compactions;     /* of struct compaction, in the order of turns */
	struct buf temp;            /* `temp:` keys, a JSON object; empty: none */
};

struct runner {
	/* fixed after runner_new() */
	struct runner_options options;
	struct invocation_host host;
	_Atomic uint64_t model_calls; /* counters: only added to */
	_Atomic uint64_t tool_calls;
	_Atomic uint64_t turns_ended;
	_Atomic uint64_t turns_failed;

	struct contexts contexts;
	struct past_cache past_cache;

	struct agents agents;

	struct mutex lock;
	struct cond work;  /* a conversation is ready, or the runner stops */
	struct cond quiet; /* a worker has ended */
	struct conversation *bucket[CONVERSATION_BUCKETS] GUARDED_BY(lock);
	struct conversation *ready_first GUARDED_BY(lock);
	struct conversation *ready_last GUARDED_BY(lock);
	unsigned workers GUARDED_BY(lock);     /* threads */
	unsigned idle GUARDED_BY(lock);        /* workers that wait for a conversation */
	unsigned running GUARDED_BY(lock);     /* turns */
	unsigned waiting GUARDED_BY(lock);     /* turns */
	unsigned compactions GUARDED_BY(lock); /* that wait */
	bool stopping GUARDED_BY(lock);
	struct recent recent GUARDED_BY(lock);
};

/* The slot of a session's conversation, which may be empty. */
struct conversation **conversation_slot_locked(struct runner *rn, uint64_t session)
	REQUIRES(rn->lock);
/* Find or make the conversation of a session. NULL: out of memory. */
struct conversation *conversation_need_locked(struct runner *rn, struct ref ref) REQUIRES(rn->lock);

/* Whether a turn or a compaction runs or waits. */
bool conversation_is_busy(const struct conversation *c);
/* Whether the first turn runs. */
bool conversation_runs_turn(const struct conversation *c);
/* The compaction that runs, or that comes before the first turn; NULL: there is none. */
struct compaction *conversation_compaction(const struct conversation *c);

/* Remove and free a conversation that has no turns, compactions and `temp:` keys left. */
void conversation_settle_locked(struct runner *rn, struct conversation *c) REQUIRES(rn->lock);
/* Put a conversation at the end of the ready list; take the first one, or NULL. */
void conversation_ready_locked(struct runner *rn, struct conversation *c) REQUIRES(rn->lock);
struct conversation *conversation_take_locked(struct runner *rn) REQUIRES(rn->lock);
/* A turn or a compaction has ended: make the next one ready, if there is one. */
void conversation_go_on_locked(struct runner *rn, struct conversation *c) REQUIRES(rn->lock);
/*
 * Add a compaction in the order of turns. One after each turn is enough: a second one is joined
 * to the first. -ENOMEM.
 */
MUST_CHECK int conversation_add_compaction_locked(struct runner *rn, struct conversation *c,
						  const struct compaction *new) REQUIRES(rn->lock);
void conversation_free(struct conversation *c);

/* The agent of the session's app, one reference. -ENXIO: no agent, or it does not load. */
MUST_CHECK int conversation_agent(struct runner *rn, struct ref session, struct agent_tree **out,
				  struct err *err);

/* Whether one more worker is needed and allowed; counts it. The caller starts it then. */
bool worker_want_locked(struct runner *rn) REQUIRES(rn->lock);
void worker_start(struct runner *rn);

/* Queue a turn that is in the store. Takes live, even on failure. -ENOMEM. */
MUST_CHECK int runner_enqueue(struct runner *rn, struct live *live, struct err *err);

/* Queue a compaction that is in the store, after this turn. -ENOMEM. */
MUST_CHECK int runner_enqueue_compaction(struct runner *rn, struct ref session, uint64_t after,
					 struct err *err);

/* For struct invocation_host: read and change `temp:` keys. arg is the runner. */
MUST_CHECK int runner_read_temp(void *arg, struct ref session, struct buf *object);
MUST_CHECK int runner_add_temp(void *arg, struct ref session, struct span delta, struct err *err);

#endif
