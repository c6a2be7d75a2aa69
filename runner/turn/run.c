/*
 * Runs: see run.h.
 */
#include "runner/turn/run.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void failure_release(struct failure *f)
{
	free(f->agent);
	free(f->branch);
	free(f->finish_reason);
	content_free(f->said);
	buf_release(&f->usage);
	changes_release(&f->changes);
	*f = (struct failure){ 0 };
}

static void set_failure(struct agent_run *run, const char *name, const struct err *err)
{
	struct failure *f = run->failure;

	if (f->err.code)
		return;
	f->err = *err;
	if (!f->err.code)
		f->err.code = -ENOMEM;
	if (!f->err.text[0])
		(void)err_errno(&f->err, f->err.code, "the turn failed");
	(void)snprintf(f->name, sizeof f->name, "%s", name ? name : "");
	f->streamed = run->streamed;
	f->agent = strdup(run->agent->name);
	f->branch = run->branch ? strdup(run->branch) : NULL;
}

int run_fail(struct agent_run *run, const char *name, const struct err *err)
{
	int code;

	mutex_lock(&run->sink->lock);
	set_failure(run, name, err);
	code = run->failure->err.code;
	mutex_unlock(&run->sink->lock);
	return code;
}

int run_fail_text(struct agent_run *run, const char *name, int code, const char *fmt, ...)
{
	struct err err = { .code = code };
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(err.text, sizeof err.text, fmt, args);
	va_end(args);
	return run_fail(run, name, &err);
}

int run_nomem(struct agent_run *run)
{
	struct err err = { 0 };

	(void)err_nomem(&err);
	return run_fail(run, NULL, &err);
}

int run_check_cancelled(struct agent_run *run)
{
	if (!cancel_fired(&run->sink->in->live->cancel))
		return 0;
	return run_fail_text(run, NULL, -ECANCELED, "cancelled");
}

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

/* Callbacks of the agent: what one says is an event, and so is what they change. */

struct agent_callback {
	struct agent_run *run;
	struct content *content;
};

static int make_input(void *arg, struct buf *out)
{
	struct agent_callback *a = arg;

	buf_text(out, "{\"agent\":");
	json_quote(out, span_of(a->run->agent->name));
	buf_char(out, '}');
	return buf_check(out, NULL);
}

static int take_output(void *arg, struct span output, struct err *err)
{
	struct agent_callback *a = arg;
	int r = content_from_json(output, &a->content, err);

	if (r < 0)
		return r;
	if (content_has(a->content, PART_CALL) || content_has(a->content, PART_RESPONSE))
		return err_set(err, -EINVAL,
			       "an agent callback cannot call functions or answer calls");
	if (!a->content->role)
		a->content->role = strdup("model");
	return a->content->role ? 1 : err_nomem(err);
}

/* 1: one of them gave a content. */
static int agent_callbacks(struct agent_run *run, enum callback_kind kind)
{
	CLEANUP(event_release) struct event e = { 0 };
	CLEANUP(changes_release) struct changes changes = { 0 };
	struct agent_callback a = { .run = run };
	struct callback_run cb = { .kind = kind,
				   .changes = &changes,
				   .input = make_input,
				   .take = take_output,
				   .arg = &a };
	int r;
	int committed = 0;

	if (!run->agent->callbacks[kind].count)
		return 0;
	if (changes_init(&changes, run) < 0)
		return run_nomem(run);
	r = callbacks_run(run, &cb);
	if (a.content)
		event_set_content(&e, a.content);
	if (r >= 0 && (a.content || changes_any(&changes)))
		committed = run_commit(run, &e, &changes, NULL, 0);
	content_free(a.content);
	return committed < 0 ? committed : r;
}

static int work(struct agent_run *run, const struct agent *after, unsigned times_looped)
{
	switch (run->agent->kind) {
	case AGENT_LLM:
		return llm_run(run);
	case AGENT_PROGRAM:
		return program_agent_run(run);
	case AGENT_SEQUENTIAL:
	case AGENT_PARALLEL:
	case AGENT_LOOP:
	case AGENT_KINDS:
		break;
	}
	return workflow_run(run, after, times_looped);
}

/* From before_agent on. 1: one of the callbacks has answered in its place. */
static int begin(struct agent_run *run)
{
	int r = run_check_cancelled(run);

	return r < 0 ? r : agent_callbacks(run, BEFORE_AGENT);
}

/* The agent that was transferred to takes the place of the one before, which is put on a list. */
static int hand_over(struct agent_run *run)
{
	int r;

	buf_add(&run->before, &run->agent, sizeof run->agent);
	run->agent = STEAL(&run->transfer);
	if (run->before.failed)
		return run_nomem(run);
	r = begin(run);
	return r ? r : work(run, NULL, 0);
}

int run_agent_work(struct agent_run *run, const struct agent *after, unsigned times_looped)
{
	int r = work(run, after, times_looped);

	while (r == 0 && run->transfer)
		r = hand_over(run);
	return r;
}

/* Whether an agent handed over below the workflow agent around own, if there is one. */
static bool is_beside(const struct agent *agent, const struct agent *own)
{
	const struct agent *around = own->parent;

	while (around && around->kind == AGENT_LLM)
		around = around->parent;
	while (around && agent && agent != around)
		agent = agent->parent;
	return agent;
}

/* An agent is done when those are that it transferred to: the last one first. */
static int end_all(struct agent_run *run, const struct agent *own)
{
	struct buf *before = &run->before;
	int r = 0;

	while (r >= 0 && !run->paused && before->len) {
		memcpy(&run->agent, before->data + before->len - sizeof run->agent,
		       sizeof run->agent);
		if (!is_beside(run->agent, own))
			break;
		before->len -= sizeof run->agent;
		r = agent_callbacks(run, AFTER_AGENT);
	}
	return r;
}

int run_agent_end(struct agent_run *run, struct agent *own, int worked)
{
	int r = worked;

	if (r == 0 && !run->paused)
		r = agent_callbacks(run, AFTER_AGENT);
	if (r >= 0)
		r = end_all(run, own);
	run->agent = own;
	return r < 0 ? r : 0;
}

int run_agent_after(struct agent_run *run, const struct agent *after, unsigned times_looped)
{
	struct agent *own = run->agent;
	int r = run_agent_work(run, after, times_looped);

	return run_agent_end(run, own, r);
}

int run_agent(struct agent_run *run)
{
	int r = begin(run);

	if (r == 0)
		r = run_agent_after(run, NULL, 0);
	buf_release(&run->before);
	return r < 0 ? r : 0;
}
