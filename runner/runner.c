/*
 * The runner: see runner.h, and conversation.h for what it is made of.
 */
#include "runner/conversation.h"

#include "base/clock.h"
#include "runner/history/answers.h"
#include "store/turn/waiting.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int runner_enqueue(struct runner *rn, struct live *live, struct err *err)
{
	struct conversation *c;
	bool new_worker = false;
	struct live **at;
	int r = 0;

	mutex_lock(&rn->lock);
	c = conversation_need_locked(rn, live->ref);
	if (!c) {
		r = err_nomem(err);
	} else {
		if (!conversation_is_busy(c))
			conversation_ready_locked(rn, c);
		/* Two submits may come here in either order: the number decides. */
		at = &c->first;
		while (*at &&
		       ((*at)->n < live->n || (at == &c->first && conversation_runs_turn(c))))
			at = &(*at)->next;
		live->next = *at;
		*at = live;
		rn->waiting++;
		c->turns++;
		new_worker = worker_want_locked(rn);
	}
	mutex_unlock(&rn->lock);
	if (r < 0)
		live_unref(live);
	if (new_worker)
		worker_start(rn);
	return r;
}

static int check_open(struct runner *rn, struct ref session, struct err *err)
{
	struct conversation *c;
	int r = 0;

	mutex_lock(&rn->lock);
	c = *conversation_slot_locked(rn, session.session);
	if (rn->stopping)
		r = err_set(err, -ESHUTDOWN, "the daemon is stopping");
	else if (c && c->turns >= RUNNER_QUEUE_MAX)
		r = err_set(err, -EBUSY, "%u turns of this session are waiting already", c->turns);
	mutex_unlock(&rn->lock);
	return r;
}

int runner_check(struct runner *rn, struct ref session, const char *app, struct err *err)
{
	struct agent_tree *agent;
	int r = check_open(rn, session, err);

	if (r == 0)
		r = agents_get(&rn->agents, app, &agent, err);
	if (r == 0)
		agents_retire(&rn->agents, agent);
	return r;
}

int runner_submit(struct runner *rn, struct ref session, uint64_t staged, struct event *message,
		  struct err *err)
{
	struct turn_info info;
	struct live *live;
	char invocation[48];
	int r = check_open(rn, session, err);

	if (r < 0)
		return r;
	clock_new_id(invocation, "e-");
	event_set_text(message, EVENT_INVOCATION, span_of(invocation));
	r = event_check(message, err);
	if (r == 0)
		r = answers_link(rn->options.store, session, message, err);
	if (r == 0)
		r = turn_submit(rn->options.store, session, staged, message, &info, err);
	if (r < 0)
		return r;
	live = live_new(session, &info, err);
	if (!live)
		return -ENOMEM;
	buf_span_add(&live->temp, message->temp_delta);
	return runner_enqueue(rn, live, err);
}

/* Find the last turn that waits now: a new compaction comes after it. */
static int find_last_turn(struct runner *rn, struct ref session, uint64_t *after, struct err *err)
{
	const struct conversation *c;
	const struct live *live;
	int r = 0;

	*after = 0;
	mutex_lock(&rn->lock);
	c = *conversation_slot_locked(rn, session.session);
	for (live = c ? c->first : NULL; live; live = live->next)
		*after = live->n;
	if (rn->stopping)
		r = err_set(err, -ESHUTDOWN, "the daemon is stopping");
	mutex_unlock(&rn->lock);
	return r;
}

int runner_enqueue_compaction(struct runner *rn, struct ref session, uint64_t after,
			      struct err *err)
{
	struct compaction compaction = { .after = after, .is_asked = true };
	struct conversation *c;
	bool new_worker = false;
	bool was_busy;
	int r = 0;

	mutex_lock(&rn->lock);
	c = conversation_need_locked(rn, session);
	if (!c) {
		r = err_nomem(err);
	} else {
		was_busy = conversation_is_busy(c);
		r = conversation_add_compaction_locked(rn, c, &compaction) < 0 ? err_nomem(err) : 0;
		if (r == 0 && !was_busy)
			conversation_ready_locked(rn, c);
		conversation_settle_locked(rn, c);
		new_worker = r == 0 && worker_want_locked(rn);
	}
	mutex_unlock(&rn->lock);
	if (new_worker)
		worker_start(rn);
	return r;
}

int runner_compact(struct runner *rn, struct ref session, struct err *err)
{
	CLEANUP(agent_tree_unref_p) struct agent_tree *agent = NULL;
	struct scope_info info;
	uint64_t after = 0;
	int r = scope_stat(rn->options.store, session, &info, err);

	if (r == 0)
		r = conversation_agent(rn, session, &agent, err);
	if (r == -ENOENT)
		return -ESTALE;
	if (r == 0)
		r = find_last_turn(rn, session, &after, err);
	if (r == 0)
		r = compaction_ask(rn->options.store, session, after, err);
	return r < 0 ? r : runner_enqueue_compaction(rn, session, after, err);
}

bool runner_is_busy(struct runner *rn, struct ref session)
{
	const struct conversation *c;
	bool busy;

	mutex_lock(&rn->lock);
	c = *conversation_slot_locked(rn, session.session);
	busy = c && conversation_is_busy(c);
	mutex_unlock(&rn->lock);
	return busy;
}

struct live *runner_live(struct runner *rn, struct ref session, uint64_t n)
{
	struct conversation *c;
	struct live *live = NULL;

	mutex_lock(&rn->lock);
	c = *conversation_slot_locked(rn, session.session);
	for (live = c ? c->first : NULL; live && live->n != n; live = live->next)
		;
	if (live)
		(void)live_ref(live);
	mutex_unlock(&rn->lock);
	return live;
}

void runner_cancel(struct runner *rn, struct ref session)
{
	struct compaction *compaction;
	struct conversation *c;

	mutex_lock(&rn->lock);
	c = *conversation_slot_locked(rn, session.session);
	compaction = c ? conversation_compaction(c) : NULL;
	if (compaction)
		compaction->is_cancelled = true;
	if (c && c->stop)
		cancel_fire(c->stop);
	else if (c && c->first && !compaction)
		live_cancel(c->first);
	mutex_unlock(&rn->lock);
}

void runner_forget(struct runner *rn, struct ref session)
{
	struct conversation *c;
	struct live *live;

	mutex_lock(&rn->lock);
	c = *conversation_slot_locked(rn, session.session);
	for (live = c ? c->first : NULL; live; live = live->next)
		live_cancel(live);
	if (c && c->stop)
		cancel_fire(c->stop);
	mutex_unlock(&rn->lock);
}

struct contexts *runner_contexts(struct runner *rn)
{
	return &rn->contexts;
}

struct agents *runner_agents(struct runner *rn)
{
	return &rn->agents;
}

void runner_stats(struct runner *rn, struct runner_stats *out)
{
	mutex_lock(&rn->lock);
	out->running = rn->running;
	out->waiting = rn->waiting;
	mutex_unlock(&rn->lock);
	out->turns = atomic_load(&rn->turns_ended);
	out->failed = atomic_load(&rn->turns_failed);
	out->model_calls = atomic_load(&rn->model_calls);
	out->tool_calls = atomic_load(&rn->tool_calls);
}

/* Turns of a conversation: the one that runs, or those that wait. */
static void list_conversation_locked(struct runner *rn, const struct conversation *c, bool running,
				     struct buf *out) REQUIRES(rn->lock)
{
	const struct live *live = c->first;
	size_t enough = (RUNNER_LIST_MAX + rn->running + RECENT_TURNS) * sizeof(struct turn_place);

	if (!running && conversation_runs_turn(c))
		live = live->next;
	else if (running && !conversation_runs_turn(c))
		live = NULL;
	for (; live && out->len < enough; live = running ? NULL : live->next) {
		struct turn_place place = { live->ref, live->n };

		buf_add(out, &place, sizeof place);
	}
}

static void list_live_locked(struct runner *rn, bool running, struct buf *out) REQUIRES(rn->lock)
{
	const struct conversation *c;
	size_t i;

	for (i = 0; i < CONVERSATION_BUCKETS; i++) {
		for (c = rn->bucket[i]; c; c = c->next)
			list_conversation_locked(rn, c, running, out);
	}
}

int runner_turns(struct runner *rn, runner_turn_fn *fn, void *arg, struct err *err)
{
	CLEANUP(buf_release) struct buf list = { 0 };
	const struct turn_place *places;
	size_t n;
	size_t i;
	int r;

	mutex_lock(&rn->lock);
	recent_list(&rn->recent, &list);
	list_live_locked(rn, true, &list);
	list_live_locked(rn, false, &list);
	mutex_unlock(&rn->lock);
	r = buf_check(&list, err);
	places = BUF_LIST(const struct turn_place, &list, &n);
	for (i = 0; r == 0 && i < n; i++)
		r = fn(arg, places[i].session, places[i].n);
	return r;
}

int runner_new(const struct runner_options *options, struct runner **out, struct err *err)
{
	struct runner *rn = calloc(1, sizeof *rn);

	if (!rn)
		return err_nomem(err);
	rn->options = *options;
	rn->host = (struct invocation_host){ .store = options->store,
					     .hooks = &rn->options.hooks,
					     .sandbox = options->sandbox,
					     .calls_max = options->calls_max ? options->calls_max
									     : RUNNER_CALLS_MAX,
					     .contexts = &rn->contexts,
					     .past_cache = &rn->past_cache,
					     .temp = runner_read_temp,
					     .set_temp = runner_add_temp,
					     .arg = rn,
					     .model_calls = &rn->model_calls,
					     .tool_calls = &rn->tool_calls };
	contexts_init(&rn->contexts, options->store);
	past_cache_init(&rn->past_cache);
	agents_init(&rn->agents, options->agents, options->sandbox);
	mutex_init(&rn->lock);
	cond_init(&rn->work);
	cond_init(&rn->quiet);
	*out = rn;
	return 0;
}

void runner_stop(struct runner *rn)
{
	struct live *live;
	size_t i;

	mutex_lock(&rn->lock);
	rn->stopping = true;
	for (i = 0; i < CONVERSATION_BUCKETS; i++) {
		struct conversation *c;

		for (c = rn->bucket[i]; c; c = c->next) {
			if (c->stop)
				cancel_fire(c->stop);
			live = conversation_runs_turn(c) ? c->first : NULL;
			if (!live)
				continue;
			atomic_store(&live->stopping, true);
			live_cancel(live);
		}
	}
	cond_wake_all(&rn->work);
	while (rn->workers)
		cond_wait(&rn->quiet, &rn->lock);
	mutex_unlock(&rn->lock);
	agents_stop(&rn->agents); /* their servers' sandboxes hold the mount */
}

void runner_free(struct runner *rn) NO_THREAD_ANALYSIS /* nobody else is left */
{
	size_t i;

	if (!rn)
		return;
	for (i = 0; i < CONVERSATION_BUCKETS; i++) {
		while (rn->bucket[i]) {
			struct conversation *c = rn->bucket[i];

			rn->bucket[i] = c->next;
			conversation_free(c);
		}
	}
	agents_release(&rn->agents);
	cond_release(&rn->work);
	cond_release(&rn->quiet);
	mutex_release(&rn->lock);
	contexts_release(&rn->contexts);
	past_cache_release(&rn->past_cache);
	free(rn);
}
