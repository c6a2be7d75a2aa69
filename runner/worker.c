/*
 * Workers: threads that run turns and compactions. See conversation.h.
 */
#include "runner/conversation.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "runner/summary.h"
#include "store/turn/waiting.h"

#include <errno.h>

#define WORKER_STACK   (512u << 10)
#define WORKER_IDLE_NS (10ull * NSEC_PER_SEC)

/* Wait for a conversation; NULL: this worker ends. */
static struct conversation *next_work(struct runner *rn)
{
	struct conversation *c;
	bool timed_out = false;

	mutex_lock(&rn->lock);
	while (!(c = conversation_take_locked(rn)) && !rn->stopping && !timed_out) {
		rn->idle++;
		timed_out = !cond_wait_until(&rn->work, &rn->lock,
					     clock_monotonic() + WORKER_IDLE_NS);
		rn->idle--;
	}
	if (rn->stopping)
		c = NULL; /* the turns that wait stay in the store */
	if (c) {
		c->compacting = conversation_compaction(c) != NULL;
		c->running = true;
		if (c->compacting) {
			rn->compactions--;
		} else {
			rn->running++;
			rn->waiting--;
		}
	} else {
		rn->workers--;
		cond_wake_all(&rn->quiet);
	}
	mutex_unlock(&rn->lock);
	return c;
}

/* Note that the first turn of the conversation has ended. due: a compaction may be due. */
static void finish_turn(struct runner *rn, struct conversation *c, struct live *live, bool due)
{
	struct compaction compaction = { .after = live->n };

	mutex_lock(&rn->lock);
	rn->running--;
	recent_add(&rn->recent, live->ref, live->n);
	c->first = live->next;
	c->turns--;
	buf_clear(&c->temp); /* temp: keys end with the turn */
	if (due)
		/* After an error the next turn finds it due. */
		(void)!conversation_add_compaction_locked(rn, c, &compaction);
	conversation_go_on_locked(rn, c);
	mutex_unlock(&rn->lock);
}

static struct live *first_turn(struct runner *rn, struct conversation *c)
{
	struct live *live;

	mutex_lock(&rn->lock);
	live = c->first;
	mutex_unlock(&rn->lock);
	return live;
}

static void serve_turn(struct runner *rn, struct conversation *c)
{
	const struct turn_hooks *hooks = &rn->options.hooks;
	struct live *live = first_turn(rn, c);
	struct agent_tree *agent = NULL;
	struct err err = { 0 };
	bool due;
	int r = conversation_agent(rn, live->ref, &agent, &err);

	if (r == 0)
		r = runner_set_temp(rn, live->ref, buf_span(&live->temp), &err);
	r = invocation_run(&rn->host, live, r < 0 ? NULL : agent, &err);
	due = r == 0 && agent->compaction_interval;
	agents_retire(&rn->agents, agent);
	atomic_fetch_add(&rn->turns_ended, 1);
	atomic_fetch_add(&rn->turns_failed, r < 0);
	live_end(live, r < 0);
	finish_turn(rn, c, live, due);
	if (hooks->progress)
		hooks->progress(hooks->arg, live->ref, live->number);
	live_unref(live);
}

/* Let runner_cancel() and runner_stop() end the compaction that runs. */
static struct compaction begin_compaction(struct runner *rn, struct conversation *c,
					  struct cancel *stop)
{
	struct compaction compaction;

	mutex_lock(&rn->lock);
	memcpy(&compaction, c->compactions.data, sizeof compaction);
	c->stop = stop;
	if (rn->stopping || compaction.is_cancelled)
		cancel_fire(stop);
	mutex_unlock(&rn->lock);
	return compaction;
}

/* A compaction that the end of the daemon stopped stays in the store, and is made again. */
static void finish_compaction(struct runner *rn, struct conversation *c, int r)
{
	struct compaction compaction;
	bool stays;

	mutex_lock(&rn->lock);
	memcpy(&compaction, c->compactions.data, sizeof compaction);
	stays = r == -ECANCELED && !compaction.is_cancelled && rn->stopping;
	mutex_unlock(&rn->lock);
	if (!stays && compaction.is_asked &&
	    compaction_done(rn->options.store, c->ref, compaction.after, NULL) < 0)
		log_error("a compaction that is done may be made again at the next start");
	mutex_lock(&rn->lock);
	c->stop = NULL;
	buf_consume(&c->compactions, sizeof(struct compaction));
	conversation_go_on_locked(rn, c);
	mutex_unlock(&rn->lock);
}

static int compact(struct runner *rn, struct conversation *c, struct cancel *stop, struct err *err)
{
	struct compaction compaction = begin_compaction(rn, c, stop);
	struct compact_options options = { 0 };
	CLEANUP(agent_tree_unref_p) struct agent_tree *agent = NULL;
	struct summary_source source = { .cancel = stop, .model_calls = &rn->model_calls };
	int r = conversation_agent(rn, c->ref, &agent, err);

	if (r < 0)
		return r;
	options.overlap = agent->compaction_overlap;
	options.least = compaction.is_asked ? 1 : agent->compaction_interval;
	source.tree = agent;
	if (!options.least) /* the agent has lost the setting meanwhile */
		return 1;
	return compact_session(rn->options.store, c->ref, &options, summary_ask, &source, err);
}

static void run_compaction(struct runner *rn, struct conversation *c)
{
	const struct turn_hooks *hooks = &rn->options.hooks;
	struct ref session = c->ref; /* c may be gone when the compaction has ended */
	struct cancel stop;
	struct err err = { 0 };
	int r = cancel_init(&stop, &err);

	if (r == 0) {
		r = compact(rn, c, &stop, &err);
		finish_compaction(rn, c, r);
		cancel_release(&stop);
	} else {
		finish_compaction(rn, c, r);
	}
	if (r < 0) {
		err.code = r;
		(void)err_wrap(&err, "the session was not compacted");
	}
	if (hooks->compacted)
		hooks->compacted(hooks->arg, session, r < 0 && r != -ESTALE ? &err : NULL);
}

static void *worker_run(void *arg)
{
	struct runner *rn = arg;
	struct conversation *c;

	while ((c = next_work(rn))) {
		if (c->compacting) /* nobody else changes this while it runs */
			run_compaction(rn, c);
		else
			serve_turn(rn, c);
	}
	return NULL;
}

bool worker_want_locked(struct runner *rn) REQUIRES(rn->lock)
{
	unsigned limit = rn->options.turns_max ? rn->options.turns_max : RUNNER_TURNS_MAX;

	if (rn->idle >= rn->waiting + rn->compactions || rn->workers >= limit)
		return false;
	rn->workers++;
	return true;
}

void worker_start(struct runner *rn)
{
	int r = thread_start(WORKER_STACK, worker_run, rn, NULL);

	if (r == 0)
		return;
	mutex_lock(&rn->lock);
	rn->workers--; /* the turn waits for another worker */
	mutex_unlock(&rn->lock);
	log_error("no thread for a turn: %s", strerror(-r));
}
