/*
 * Conversations: the runner from inside. For the files that it is made of.
 *
 * A conversation is there for a session while turns of it run or wait (or it
 * has temp: keys). Its first turn runs or is about to; workers take
 * conversations from the ready list, run one turn, and put them back.
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
	uint64_t behind; /* the turn after which it comes; 0: it comes first */
	bool is_asked;   /* by a user; else it needs enough new turns */
	bool is_cancelled;
};

/* The turns of a session that run or wait. Everything is guarded by runner.lock. */
struct conversation {
	struct ref ref;
	struct conversation *next;  /* in its bucket */
	struct conversation *ready; /* in the list of those that wait for a worker */
	struct live *first;         /* runs, or is next */
	unsigned turns;
	bool running;           /* the first turn, or the first compaction */
	bool compacting;        /* what runs is a compaction */
	struct cancel *stop;    /* of the compaction that runs; NULL: none */
	struct buf compactions; /* of struct compaction, in the order of turns */
	struct buf temp;        /* JSON object; empty: none */
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
	struct cond work;  /* a conversation is ready, or the end */
	struct cond quiet; /* a worker went */
	struct conversation *bucket[CONVERSATION_BUCKETS] GUARDED_BY(lock);
	struct conversation *ready_first GUARDED_BY(lock);
	struct conversation *ready_last GUARDED_BY(lock);
	unsigned workers GUARDED_BY(lock);
	unsigned idle GUARDED_BY(lock);
	unsigned running GUARDED_BY(lock);
	unsigned waiting GUARDED_BY(lock);
	unsigned compactions GUARDED_BY(lock); /* that wait */
	bool stopping GUARDED_BY(lock);
	struct recent recent GUARDED_BY(lock);
};

/* The slot of a session's conversation, which may be empty. */
struct conversation **conversation_slot_locked(struct runner *rn, uint64_t session)
	REQUIRES(rn->lock);
/* Find or make the conversation of a session. NULL: out of memory. */
struct conversation *conversation_need_locked(struct runner *rn, struct ref ref) REQUIRES(rn->lock);

/* Whether something runs or waits in it. */
bool conversation_is_busy(const struct conversation *c);
/* Whether its first turn runs. */
bool conversation_runs_turn(const struct conversation *c);
/* The compaction that runs, or comes before the first turn; NULL: there is none. */
struct compaction *conversation_compaction(const struct conversation *c);

/* Remove a conversation that has nothing left. */
void conversation_settle_locked(struct runner *rn, struct conversation *c) REQUIRES(rn->lock);
/* Put a conversation at the end of the ready list; take the first one, or NULL. */
void conversation_ready_locked(struct runner *rn, struct conversation *c) REQUIRES(rn->lock);
struct conversation *conversation_take_locked(struct runner *rn) REQUIRES(rn->lock);
/* A turn or a compaction has ended: make the next one ready, if there is one. */
void conversation_go_on_locked(struct runner *rn, struct conversation *c) REQUIRES(rn->lock);
/* Put a compaction after those for earlier turns; one at a place is enough. -ENOMEM. */
MUST_CHECK int conversation_add_compaction_locked(struct runner *rn, struct conversation *c,
						  const struct compaction *new) REQUIRES(rn->lock);
void conversation_free(struct conversation *c);

/* Whether one more worker is needed and allowed. It is counted then; the caller starts it. */
bool worker_want_locked(struct runner *rn) REQUIRES(rn->lock);
void worker_start(struct runner *rn);

/* Put a turn that is in the store into the queue. Takes live, also on failure. */
MUST_CHECK int runner_enqueue(struct runner *rn, struct live *live, struct err *err);

/* Put a compaction that is in the store after this turn. */
MUST_CHECK int runner_enqueue_compaction(struct runner *rn, struct ref session, uint64_t behind,
					 struct err *err);

/* For invocations: see turn/invocation.h; arg is the runner. */
MUST_CHECK int runner_read_temp(void *arg, struct ref session, struct buf *object);
MUST_CHECK int runner_add_temp(void *arg, struct ref session, struct span delta, struct err *err);

#endif
