/*
 * Work: see work.h.
 */
#include "runner/turn/work.h"

#include "base/json_text.h"
#include "runner/turn/callback.h"
#include "runner/turn/commit.h"
#include "runner/turn/run.h"

#include <errno.h>
#include <stdlib.h>

/* The callbacks of an agent. An event has the answer of a callback, and the changes of all. */

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

/* Run the callbacks of a kind. 1: one of them answered. */
static int agent_callbacks(struct agent_run *run, enum callback_kind kind)
{
	CLEANUP(event_release) struct event e = { 0 };
	CLEANUP(changes_release) struct changes changes = { 0 };
	struct agent_callback a = { .run = run };
	struct callback_run cb = { .kind = kind,
				   .changes = &changes,
				   .input = make_input,
				   .output = take_output,
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

/* How each kind of agent works, from its beginning. */
static int (*const works[AGENT_KINDS])(struct agent_run *run) = {
	[AGENT_LLM] = llm_run,
	[AGENT_PROGRAM] = program_agent_run,
	[AGENT_SEQUENTIAL] = workflow_run,
	[AGENT_PARALLEL] = workflow_run,
	[AGENT_LOOP] = workflow_run,
};

int run_own_work(struct agent_run *run)
{
	return works[run->agent->kind](run);
}

/* 1: a before_agent callback has answered in place of the agent. */
static int begin(struct agent_run *run)
{
	int r = run_check_cancelled(run);

	return r < 0 ? r : agent_callbacks(run, BEFORE_AGENT);
}

int run_transfers(struct agent_run *run, int worked)
{
	int r = worked;

	while (r == 0 && run->transfer) {
		buf_add(&run->transferred, &run->agent, sizeof run->agent);
		run->agent = STEAL(&run->transfer);
		if (run->transferred.failed)
			return run_nomem(run);
		r = begin(run);
		if (r == 0)
			r = run_own_work(run);
	}
	return r;
}

/* Whether an agent is below the workflow agent around `own`; true if there is none. */
static bool is_beside(const struct agent *agent, const struct agent *own)
{
	const struct agent *around = own->parent;

	while (around && around->kind == AGENT_LLM)
		around = around->parent;
	while (around && agent && agent != around)
		agent = agent->parent;
	return agent;
}

/* End the agents that transferred, the last one first: each is done when its target is. */
static int end_all(struct agent_run *run, const struct agent *own)
{
	struct buf *before = &run->transferred;
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

int run_agent(struct agent_run *run)
{
	struct agent *own = run->agent;
	int r = begin(run);

	if (r == 0) {
		r = works[own->kind](run);
		r = run_transfers(run, r);
		r = run_agent_end(run, own, r);
	}
	buf_release(&run->transferred);
	return r < 0 ? r : 0;
}
