/*
 * Workflow agents: see work.h.
 */
#include "runner/turn/work.h"

#include "base/thread.h"
#include "runner/turn/commit.h"
#include "runner/turn/run.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define BRANCH_STACK (512u << 10)

int workflow_place(struct agent_run *run, const char *sub, unsigned times_looped)
{
	CLEANUP(event_release) struct event e = { 0 };
	CLEANUP(buf_release) struct buf state = { 0 };

	buf_text(&state, "{\"current_sub_agent\":");
	json_quote(&state, span_of(sub));
	if (run->agent->kind == AGENT_LOOP)
		buf_printf(&state, ",\"times_looped\":%u", times_looped);
	buf_char(&state, '}');
	e.text.failed |= state.failed;
	event_set_action(&e, ACTION_AGENT_STATE, buf_span(&state));
	if (run->agent->kind == AGENT_LOOP && run->escalated)
		event_set_json(&e, EVENT_CUSTOM_METADATA, SPAN("{\"adkfs.escalated\":true}"));
	return run_commit(run, &e, NULL, NULL, 0);
}

/* Commit that an agent that was paused has ended. */
static int commit_end(struct agent_run *run)
{
	CLEANUP(event_release) struct event e = { 0 };

	event_set_action(&e, ACTION_END_OF_AGENT, SPAN("true"));
	return run_commit(run, &e, NULL, NULL, 0);
}

static size_t place_after(const struct agent *agent, const struct agent *after)
{
	size_t i;

	for (i = 0; after && i < agent->sub_count; i++) {
		if (agent->subs[i] == after)
			return i + 1;
	}
	return 0;
}

/*
 * Run the sub-agents from `from` on, one after the other. 1: an escalate ended the pass of a loop.
 */
static int run_pass(struct agent_run *run, size_t from, unsigned times_looped)
{
	const struct agent *agent = run->agent;
	size_t i;

	for (i = from; i < agent->sub_count; i++) {
		struct agent_run child = run_below(run, agent->subs[i]);
		int r = run->sink->in->run_agent(&child);

		run_join(run, &child);
		if (r < 0)
			return r;
		if (child.paused)
			return workflow_place(run, agent->subs[i]->name, times_looped);
		if (agent->kind == AGENT_LOOP && child.escalated)
			return 1;
	}
	return 0;
}

static int run_loop(struct agent_run *run, const struct agent *after, unsigned times_looped)
{
	size_t from = place_after(run->agent, after);
	unsigned limit = run->agent->max_iterations;
	int r = run->escalated ? 1 : 0; /* by the sub-agent that was resumed */

	while (r == 0 && !run->paused && run->agent->sub_count &&
	       (!limit || times_looped < limit)) {
		r = run_check_cancelled(run);
		if (r == 0)
			r = run_pass(run, from, times_looped);
		from = 0;
		times_looped++;
	}
	run->escalated = false; /* an escalate ends one loop */
	return r < 0 ? r : 0;
}

/* Side by side */

struct branch {
	struct agent_run run;
	struct failure failure;
	char *name;
	pthread_t thread;
	bool started;
	int result;
};

static void *run_branch(void *arg)
{
	struct branch *b = arg;

	b->result = b->run.sink->in->run_agent(&b->run);
	return NULL;
}

static int start_branch(struct agent_run *run, struct branch *b, struct agent *agent)
{
	int r;

	if (asprintf(&b->name, "%s%s%s.%s", run->branch ? run->branch : "", run->branch ? "." : "",
		     run->agent->name, agent->name) < 0) {
		b->name = NULL;
		return run_nomem(run);
	}
	b->run = run_below(run, agent);
	b->run.branch = b->name;
	b->run.failure = &b->failure;
	r = thread_start(BRANCH_STACK, run_branch, b, &b->thread);
	b->started = r == 0;
	return b->started ? 0 : run_fail_text(run, NULL, r, "no thread for agent %s", agent->name);
}

/* Collect what callbacks of failed branches changed: one event has all of it. */
static void join_changes(struct changes *all, struct changes *others)
{
	if (!others->in)
		return;
	if (!all->in) {
		*all = *others;
		*others = (struct changes){ 0 };
		return;
	}
	(void)!changes_merge(all, others, NULL); /* the turn fails in any case */
	changes_forget(others);
}

/* End a branch. The first failure in the order of the branches is that of the turn. */
static int join_branch(struct agent_run *run, struct branch *b)
{
	if (b->started)
		(void)pthread_join(b->thread, NULL);
	run_join(run, &b->run);
	free(b->name);
	if (b->started && b->result < 0 && !run->failure->err.code) {
		*run->failure = b->failure;
		return b->result;
	}
	join_changes(&run->failure->changes, &b->failure.changes);
	failure_release(&b->failure);
	return 0;
}

static int run_parallel(struct agent_run *run)
{
	size_t n = run->agent->sub_count;
	struct branch *list = calloc(n + 1, sizeof *list);
	size_t i;
	int r = 0;

	if (!list)
		return run_nomem(run);
	for (i = 0; r == 0 && i < n; i++)
		r = start_branch(run, &list[i], run->agent->subs[i]);
	for (i = 0; i < n; i++) {
		int joined = join_branch(run, &list[i]);

		r = r < 0 ? r : joined;
	}
	free(list);
	return r;
}

int workflow_go_on(struct agent_run *run, const struct agent *after, unsigned times_looped)
{
	int r = 0;

	if (run->agent->kind == AGENT_LOOP)
		r = run_loop(run, after, times_looped);
	else if (run->agent->kind == AGENT_SEQUENTIAL)
		r = run_pass(run, place_after(run->agent, after), 0);
	/* a parallel agent has nothing left: its other branches have ended before */
	return r == 0 && !run->paused ? commit_end(run) : r;
}

int workflow_run(struct agent_run *run)
{
	switch (run->agent->kind) {
	case AGENT_PARALLEL:
		return run_parallel(run);
	case AGENT_LOOP:
		return run_loop(run, NULL, 0);
	default:
		return run_pass(run, 0, 0);
	}
}
