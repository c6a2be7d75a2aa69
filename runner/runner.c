/*
 * The runner: see runner.h.
 *
 * A conversation is there for a session while turns of it run or wait (or it
 * has temp: keys). Its first turn runs or is about to; workers take
 * conversations from the ready list, run one turn, and put them back.
 */
#include "runner/runner.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "runner/agents.h"
#include "runner/answers.h"
#include "runner/invocation.h"
#include "runner/recent.h"
#include "runner/summary.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUCKETS        1024
#define WORKER_STACK   (512u << 10)
#define WORKER_IDLE_NS (10ull * NSEC_PER_SEC)

/* A compaction that waits or runs. */
struct compaction {
	uint64_t behind; /* number of a turn; 0: there is none to wait for */
	bool is_asked;   /* by somebody; else it is only due if enough turns are new */
	bool is_cancelled;
};

struct conversation {
	struct ref ref;
	struct conversation *next;  /* in its bucket */
	struct conversation *ready; /* in the list of those that wait for a worker */
	struct live *first;         /* runs, or is next */
	unsigned turns;
	bool running;           /* the first turn, or the first compaction */
	bool compacting;        /* a compaction it is */
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

	struct agents agents;

	struct mutex lock;
	struct cond work;  /* a conversation is ready, or the end */
	struct cond quiet; /* a worker went */
	struct conversation *bucket[BUCKETS] GUARDED_BY(lock);
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

static struct conversation **slot_locked(struct runner *rn, uint64_t session) REQUIRES(rn->lock)
{
	struct conversation **at = &rn->bucket[session % BUCKETS];

	while (*at && (*at)->ref.session != session)
		at = &(*at)->next;
	return at;
}

static struct conversation *need_locked(struct runner *rn, struct ref ref) REQUIRES(rn->lock)
{
	struct conversation **at = slot_locked(rn, ref.session);

	if (!*at) {
		*at = calloc(1, sizeof **at);
		if (*at)
			(*at)->ref = ref;
	}
	return *at;
}

/* Something runs or waits in it. */
static bool is_busy(const struct conversation *c)
{
	return c->first || c->running || c->compactions.len;
}

/* Its first turn runs. */
static bool runs_turn(const struct conversation *c)
{
	return c->running && !c->compacting;
}

/* The compaction that runs, or comes before the first turn; NULL: there is none. */
static struct compaction *first_compaction(const struct conversation *c)
{
	struct compaction *first = (struct compaction *)(void *)c->compactions.data;

	if (!c->compactions.len || runs_turn(c))
		return NULL;
	return !c->first || c->first->n > first->behind ? first : NULL;
}

/* A conversation with nothing left in it goes. */
static void settle_locked(struct runner *rn, struct conversation *c) REQUIRES(rn->lock)
{
	struct conversation **at = slot_locked(rn, c->ref.session);

	if (is_busy(c) || c->temp.len || *at != c)
		return;
	*at = c->next;
	buf_release(&c->temp);
	buf_release(&c->compactions);
	free(c);
}

static void make_ready_locked(struct runner *rn, struct conversation *c) REQUIRES(rn->lock)
{
	c->ready = NULL;
	if (rn->ready_last)
		rn->ready_last->ready = c;
	else
		rn->ready_first = c;
	rn->ready_last = c;
	cond_wake_one(&rn->work);
}

static struct conversation *take_ready_locked(struct runner *rn) REQUIRES(rn->lock)
{
	struct conversation *c = rn->ready_first;

	if (!c)
		return NULL;
	rn->ready_first = c->ready;
	if (!rn->ready_first)
		rn->ready_last = NULL;
	return c;
}

/* Wait for a conversation; NULL: this worker is not needed any more. */
static struct conversation *next_work(struct runner *rn)
{
	struct conversation *c;
	bool timed_out = false;

	mutex_lock(&rn->lock);
	while (!(c = take_ready_locked(rn)) && !rn->stopping && !timed_out) {
		rn->idle++;
		timed_out = !cond_wait_until(&rn->work, &rn->lock,
					     clock_monotonic() + WORKER_IDLE_NS);
		rn->idle--;
	}
	if (rn->stopping)
		c = NULL; /* what is ready stays in the store */
	if (c) {
		c->compacting = first_compaction(c) != NULL;
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

/* What ran is over: what is next, if anything, is ready. */
static void go_on_locked(struct runner *rn, struct conversation *c) REQUIRES(rn->lock)
{
	c->running = c->compacting = false;
	if (is_busy(c) && !rn->stopping)
		make_ready_locked(rn, c);
	else
		settle_locked(rn, c);
}

/* Put a compaction behind those for earlier turns; one at that place is enough. */
static int add_compaction_locked(struct runner *rn, struct conversation *c,
				 const struct compaction *new) REQUIRES(rn->lock)
{
	size_t skip = c->compacting ? sizeof *new : 0; /* the one that runs */
	size_t at = c->compactions.len;
	struct compaction *there;

	while (at > skip) {
		there = (struct compaction *)(void *)(c->compactions.data + at) - 1;
		if (there->behind < new->behind)
			break;
		if (there->behind == new->behind) {
			there->is_asked |= new->is_asked;
			there->is_cancelled = false;
			return 0;
		}
		at -= sizeof *new;
	}
	if (!buf_reserve(&c->compactions, sizeof *new)) {
		c->compactions.failed = false; /* those that are there stay */
		return -ENOMEM;
	}
	memmove(c->compactions.data + at + sizeof *new, c->compactions.data + at,
		c->compactions.len - at);
	memcpy(c->compactions.data + at, new, sizeof *new);
	c->compactions.len += sizeof *new;
	rn->compactions++;
	return 0;
}

/* The first turn of the conversation is over. due: a compaction may be. */
static void finish_turn(struct runner *rn, struct conversation *c, struct live *live, bool due)
{
	struct compaction compaction = { .behind = live->n };

	mutex_lock(&rn->lock);
	rn->running--;
	recent_add(&rn->recent, live->ref, live->n);
	c->first = live->next;
	c->turns--;
	buf_clear(&c->temp); /* temp: keys end with the turn */
	if (due)
		(void)add_compaction_locked(rn, c, &compaction); /* else after the next turn */
	go_on_locked(rn, c);
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

static void tell_compacted(struct runner *rn, struct ref session, const struct err *why)
{
	if (rn->options.compacted)
		rn->options.compacted(rn->options.arg, session, why);
}

static void run_turn(struct runner *rn, struct conversation *c)
{
	struct live *live = first_turn(rn, c);
	struct agent_tree *agent = NULL;
	struct ref app = { .app = live->ref.app };
	struct scope_info info;
	struct err err = { 0 };
	bool due;
	int r = scope_stat(rn->options.store, app, &info, &err);

	if (r == 0)
		r = runner_agent(rn, info.id, &agent, &err);
	if (r == 0)
		r = runner_set_temp(rn, live->ref, buf_span(&live->temp), &err);
	r = invocation_run(&rn->host, live, r < 0 ? NULL : agent, &err);
	due = r == 0 && agent->compaction_interval;
	agents_retire(&rn->agents, agent);
	atomic_fetch_add(&rn->turns_ended, 1);
	atomic_fetch_add(&rn->turns_failed, r < 0);
	live_end(live, r < 0);
	finish_turn(rn, c, live, due);
	if (rn->options.progress)
		rn->options.progress(rn->options.arg, live->ref, live->number);
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

static void finish_compaction(struct runner *rn, struct conversation *c)
{
	mutex_lock(&rn->lock);
	c->stop = NULL;
	buf_consume(&c->compactions, sizeof(struct compaction));
	go_on_locked(rn, c);
	mutex_unlock(&rn->lock);
}

static int compact(struct runner *rn, struct conversation *c, struct cancel *stop, struct err *err)
{
	struct compaction compaction = begin_compaction(rn, c, stop);
	struct compact_options options = { 0 };
	CLEANUP(agent_tree_unref_p) struct agent_tree *agent = NULL;
	struct summary_source source = { .cancel = stop, .model_calls = &rn->model_calls };
	struct scope_info info;
	struct ref app = { .app = c->ref.app };
	int r = scope_stat(rn->options.store, app, &info, err);

	if (r == 0)
		r = runner_agent(rn, info.id, &agent, err);
	if (r < 0)
		return r;
	options.overlap = agent->compaction_overlap;
	options.least = compaction.is_asked ? 1 : agent->compaction_interval;
	source.tree = agent;
	if (!options.least) /* the setting went since */
		return 1;
	return compact_session(rn->options.store, c->ref, &options, summary_ask, &source, err);
}

static void run_compaction(struct runner *rn, struct conversation *c)
{
	struct ref session = c->ref;
	struct cancel stop;
	struct err err = { 0 };
	int r = cancel_init(&stop, &err);

	if (r == 0) {
		r = compact(rn, c, &stop, &err);
		finish_compaction(rn, c);
		cancel_release(&stop);
	} else {
		finish_compaction(rn, c);
	}
	if (r < 0) {
		err.code = r;
		(void)err_wrap(&err, "the session was not compacted");
	}
	tell_compacted(rn, session, r < 0 && r != -ESTALE ? &err : NULL);
}

static void *work(void *arg)
{
	struct runner *rn = arg;
	struct conversation *c;

	while ((c = next_work(rn))) {
		if (c->compacting) /* it stays so while it runs */
			run_compaction(rn, c);
		else
			run_turn(rn, c);
	}
	return NULL;
}

/* One more worker when all are busy and the limit allows it. */
static bool want_worker_locked(struct runner *rn) REQUIRES(rn->lock)
{
	unsigned limit = rn->options.turns_max ? rn->options.turns_max : RUNNER_TURNS_MAX;

	if (rn->idle >= rn->waiting + rn->compactions || rn->workers >= limit)
		return false;
	rn->workers++;
	return true;
}

static void start_worker(struct runner *rn)
{
	pthread_attr_t attr;
	pthread_t thread;
	int r;

	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setstacksize(&attr, WORKER_STACK);
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	r = pthread_create(&thread, &attr, work, rn);
	(void)pthread_attr_destroy(&attr);
	if (r == 0)
		return;
	mutex_lock(&rn->lock);
	rn->workers--; /* the turn waits for one of the others */
	mutex_unlock(&rn->lock);
	log_error("no thread for a turn: %s", strerror(r));
}

/* Put a turn that is in the store into the queue. Takes live, also on failure. */
static int enqueue(struct runner *rn, struct live *live, struct err *err)
{
	struct conversation *c;
	bool new_worker = false;
	struct live **at;
	int r = 0;

	mutex_lock(&rn->lock);
	c = need_locked(rn, live->ref);
	if (!c) {
		r = err_nomem(err);
	} else {
		if (!is_busy(c))
			make_ready_locked(rn, c);
		/* Two submits may come here in either order: the number decides. */
		at = &c->first;
		while (*at && ((*at)->n < live->n || (at == &c->first && runs_turn(c))))
			at = &(*at)->next;
		live->next = *at;
		*at = live;
		rn->waiting++;
		c->turns++;
		new_worker = want_worker_locked(rn);
	}
	mutex_unlock(&rn->lock);
	if (r < 0)
		live_unref(live);
	if (new_worker)
		start_worker(rn);
	return r;
}

static int check_open(struct runner *rn, struct ref session, struct err *err)
{
	struct conversation *c;
	int r = 0;

	mutex_lock(&rn->lock);
	c = *slot_locked(rn, session.session);
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
		r = runner_agent(rn, app, &agent, err);
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
	return enqueue(rn, live, err);
}

/* Behind the turns that wait now. */
static int enqueue_compaction(struct runner *rn, struct ref session, struct err *err)
{
	struct compaction compaction = { .is_asked = true };
	struct conversation *c;
	const struct live *live;
	bool new_worker = false;
	bool was_busy;
	int r = 0;

	mutex_lock(&rn->lock);
	c = rn->stopping ? NULL : need_locked(rn, session);
	if (rn->stopping) {
		r = err_set(err, -ESHUTDOWN, "the daemon is stopping");
	} else if (!c) {
		r = err_nomem(err);
	} else {
		for (live = c->first; live; live = live->next)
			compaction.behind = live->n;
		was_busy = is_busy(c);
		r = add_compaction_locked(rn, c, &compaction) < 0 ? err_nomem(err) : 0;
		if (r == 0 && !was_busy)
			make_ready_locked(rn, c);
		settle_locked(rn, c);
		new_worker = r == 0 && want_worker_locked(rn);
	}
	mutex_unlock(&rn->lock);
	if (new_worker)
		start_worker(rn);
	return r;
}

int runner_compact(struct runner *rn, struct ref session, struct err *err)
{
	CLEANUP(agent_tree_unref_p) struct agent_tree *agent = NULL;
	struct ref app = { .app = session.app };
	struct scope_info info;
	int r = scope_stat(rn->options.store, session, &info, err);

	if (r == 0)
		r = scope_stat(rn->options.store, app, &info, err);
	if (r == -ENOENT)
		return -ESTALE;
	if (r == 0)
		r = runner_agent(rn, info.id, &agent, err);
	return r < 0 ? r : enqueue_compaction(rn, session, err);
}

bool runner_is_busy(struct runner *rn, struct ref session)
{
	const struct conversation *c;
	bool busy;

	mutex_lock(&rn->lock);
	c = *slot_locked(rn, session.session);
	busy = c && is_busy(c);
	mutex_unlock(&rn->lock);
	return busy;
}

struct live *runner_live(struct runner *rn, struct ref session, uint64_t n)
{
	struct conversation *c;
	struct live *live = NULL;

	mutex_lock(&rn->lock);
	c = *slot_locked(rn, session.session);
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
	c = *slot_locked(rn, session.session);
	compaction = c ? first_compaction(c) : NULL;
	if (compaction)
		compaction->is_cancelled = true;
	if (c && c->stop)
		cancel_fire(c->stop);
	else if (c && c->first && !compaction)
		cancel_fire(&c->first->cancel);
	mutex_unlock(&rn->lock);
}

void runner_forget(struct runner *rn, struct ref session)
{
	struct conversation *c;
	struct live *live;

	mutex_lock(&rn->lock);
	c = *slot_locked(rn, session.session);
	for (live = c ? c->first : NULL; live; live = live->next)
		cancel_fire(&live->cancel);
	if (c && c->stop)
		cancel_fire(c->stop);
	mutex_unlock(&rn->lock);
}

struct merge {
	struct buf *out;
	struct span newer;
};

static int keep_older(void *arg, struct span key, struct span value)
{
	struct merge *m = arg;
	CLEANUP(buf_release) struct buf name = { 0 };
	struct span found;

	buf_span_add(&name, key);
	if (!buf_cstr(&name))
		return -ENOMEM;
	if (json_member(m->newer, name.data, &found) == 0)
		return 0;
	buf_char(m->out, ',');
	json_quote(m->out, key);
	buf_char(m->out, ':');
	buf_span_add(m->out, value);
	return 0;
}

int runner_set_temp(struct runner *rn, struct ref session, struct span delta, struct err *err)
{
	CLEANUP(buf_release) struct buf merged = { 0 };
	struct merge m = { &merged, delta };
	struct conversation *c;
	int r = 0;

	if (delta.len <= 2)
		return 0;
	buf_add(&merged, delta.data, delta.len - 1);
	mutex_lock(&rn->lock);
	c = need_locked(rn, session);
	if (c && c->temp.len)
		r = json_each(buf_span(&c->temp), keep_older, &m);
	buf_char(&merged, '}');
	if (!c || merged.failed || r < 0) {
		r = -ENOMEM;
	} else {
		struct buf old = c->temp;

		c->temp = merged;
		merged = old;
	}
	mutex_unlock(&rn->lock);
	return r < 0 ? err_nomem(err) : 0;
}

static int read_temp(void *arg, struct ref session, struct buf *object)
{
	struct runner *rn = arg;
	struct conversation *c;

	mutex_lock(&rn->lock);
	c = *slot_locked(rn, session.session);
	if (c)
		buf_span_add(object, buf_span(&c->temp));
	mutex_unlock(&rn->lock);
	return buf_check(object, NULL);
}

static int set_temp(void *arg, struct ref session, struct span delta, struct err *err)
{
	return runner_set_temp(arg, session, delta, err);
}

struct contexts *runner_contexts(struct runner *rn)
{
	return &rn->contexts;
}

int runner_agent_folder(struct runner *rn, const char *app, struct buf *out, struct err *err)
{
	return agents_folder(&rn->agents, app, out, err);
}

int runner_agent(struct runner *rn, const char *app, struct agent_tree **out, struct err *err)
{
	return agents_get(&rn->agents, app, out, err);
}

void runner_agent_done(struct runner *rn, struct agent_tree *tree)
{
	agents_retire(&rn->agents, tree);
}

int runner_apps(struct runner *rn, runner_app_fn *fn, void *arg, struct err *err)
{
	return agents_list(&rn->agents, fn, arg, err);
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

	if (!running && runs_turn(c))
		live = live->next;
	else if (running && !runs_turn(c))
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

	for (i = 0; i < BUCKETS; i++) {
		for (c = rn->bucket[i]; c; c = c->next)
			list_conversation_locked(rn, c, running, out);
	}
}

int runner_turns(struct runner *rn, runner_turn_fn *fn, void *arg, struct err *err)
{
	CLEANUP(buf_release) struct buf list = { 0 };
	const struct turn_place *places;
	size_t i;
	int r;

	mutex_lock(&rn->lock);
	recent_list(&rn->recent, &list);
	list_live_locked(rn, true, &list);
	list_live_locked(rn, false, &list);
	mutex_unlock(&rn->lock);
	r = buf_check(&list, err);
	places = (const struct turn_place *)(const void *)list.data;
	for (i = 0; r == 0 && i < list.len / sizeof *places; i++)
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
					     .options = &rn->options,
					     .contexts = &rn->contexts,
					     .temp = read_temp,
					     .set_temp = set_temp,
					     .arg = rn,
					     .model_calls = &rn->model_calls,
					     .tool_calls = &rn->tool_calls };
	contexts_init(&rn->contexts, options->store);
	agents_init(&rn->agents, options->agents);
	mutex_init(&rn->lock);
	cond_init(&rn->work);
	cond_init(&rn->quiet);
	*out = rn;
	return 0;
}

/* What the store says was left behind; acted on after the scan. */
struct leftover {
	struct ref ref;
	uint64_t n;
};

static int note_leftover(void *arg, struct ref session, uint64_t n)
{
	struct leftover left = { session, n };

	buf_add(arg, &left, sizeof left);
	return buf_check(arg, NULL);
}

static int resume(struct runner *rn, const struct leftover *left, struct err *err)
{
	struct turn_info info;
	struct live *live;
	int r = turn_stat(rn->options.store, left->ref, left->n, &info, err);

	if (r < 0)
		return r;
	if (info.state == TURN_RUNNING) {
		mutex_lock(&rn->lock);
		recent_add(&rn->recent, left->ref, left->n);
		mutex_unlock(&rn->lock);
		return invocation_abort(rn->options.store, left->ref, left->n, err);
	}
	live = live_new(left->ref, &info, err);
	return live ? enqueue(rn, live, err) : -ENOMEM;
}

struct message {
	struct ref ref;
	uint64_t number;
	enum message_kind kind;
	struct buf text;
};

static int note_message(void *arg, struct ref session, uint64_t number, enum message_kind kind,
			struct span text)
{
	struct message m = { .ref = session, .number = number, .kind = kind };

	buf_span_add(&m.text, text);
	buf_add(arg, &m, sizeof m);
	return buf_check(arg, NULL);
}

/*
 * A message whose close had succeeded is submitted as it is; of JSON a close
 * may have kept a part, and the rest never came.
 */
static int resubmit(struct runner *rn, struct message *m, struct err *err)
{
	CLEANUP(event_release) struct event e = { 0 };
	int r = message_parse(m->kind, buf_span(&m->text), &e, NULL, err);

	if (r == 0)
		r = runner_submit(rn, m->ref, m->number, &e, err);
	else if (r == -ENOMEM)
		return r;
	else
		return message_drop(rn->options.store, m->number, err);
	return r == -ESTALE || r == -EINVAL ? message_drop(rn->options.store, m->number, err) : r;
}

int runner_recover(struct runner *rn, struct err *err)
{
	CLEANUP(buf_release) struct buf turns = { 0 };
	CLEANUP(buf_release) struct buf messages = { 0 };
	struct leftover *left;
	struct message *m;
	size_t i;
	int r = turn_unfinished(rn->options.store, note_leftover, &turns, err);

	left = (struct leftover *)(void *)turns.data;
	for (i = 0; r == 0 && i < turns.len / sizeof *left; i++)
		r = resume(rn, &left[i], err);
	if (r == 0)
		r = message_staged(rn->options.store, note_message, &messages, err);
	m = (struct message *)(void *)messages.data;
	for (i = 0; i < messages.len / sizeof *m; i++) {
		if (r == 0)
			r = resubmit(rn, &m[i], err);
		buf_release(&m[i].text);
	}
	return r;
}

void runner_stop(struct runner *rn)
{
	struct live *live;
	size_t i;

	mutex_lock(&rn->lock);
	rn->stopping = true;
	for (i = 0; i < BUCKETS; i++) {
		struct conversation *c;

		for (c = rn->bucket[i]; c; c = c->next) {
			if (c->stop)
				cancel_fire(c->stop);
			live = runs_turn(c) ? c->first : NULL;
			if (!live)
				continue;
			atomic_store(&live->stopping, true);
			cancel_fire(&live->cancel);
		}
	}
	cond_wake_all(&rn->work);
	while (rn->workers)
		cond_wait(&rn->quiet, &rn->lock);
	mutex_unlock(&rn->lock);
}

static void free_conversation(struct conversation *c)
{
	while (c->first) {
		struct live *live = c->first;

		c->first = live->next;
		live_unref(live);
	}
	buf_release(&c->compactions);
	buf_release(&c->temp);
	free(c);
}

void runner_free(struct runner *rn) NO_THREAD_ANALYSIS /* nobody else is left */
{
	size_t i;

	if (!rn)
		return;
	for (i = 0; i < BUCKETS; i++) {
		while (rn->bucket[i]) {
			struct conversation *c = rn->bucket[i];

			rn->bucket[i] = c->next;
			free_conversation(c);
		}
	}
	agents_release(&rn->agents);
	cond_release(&rn->work);
	cond_release(&rn->quiet);
	mutex_release(&rn->lock);
	contexts_release(&rn->contexts);
	free(rn);
}
