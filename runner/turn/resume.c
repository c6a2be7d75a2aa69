/*
 * Going on after a pause: see resume.h.
 */
#include "runner/turn/resume.h"

#include "runner/history/speaker.h"
#include "runner/turn/confirm.h"
#include "runner/turn/pause.h"
#include "runner/turn/run.h"
#include "runner/turn/work.h"

#include <errno.h>
#include <stdlib.h>

/* The agents that are resumed */

static void resumed_release(struct resumed *one)
{
	free(one->branch);
	free(one->invocation);
	buf_release(&one->transferred);
	*one = (struct resumed){ 0 };
}

void resumed_free(struct resumed *list, size_t n)
{
	while (n > 0)
		resumed_release(&list[--n]);
	free(list);
}

static bool is_listed(const struct resumed *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (list[i].agent == list[n].agent && !strcmp(list[i].branch, list[n].branch))
			return true;
	}
	return false;
}

/* Read from the line of a call which agents transferred to the caller; skip those that are gone. */
static int read_transferred(struct invocation *in, struct span line, struct buf *before)
{
	CLEANUP(buf_release) struct buf name = { 0 };
	struct span metadata;
	struct span list;
	struct json_scan s;
	bool first = true;
	int r;

	if (json_member(line, "customMetadata", &metadata) < 0 ||
	    json_member(metadata, "adkfs.transfers", &list) < 0)
		return 0;
	s = json_scan_of(list, JSON_DEPTH_FREE, NULL);
	r = json_open(&s, '[');
	while (r == 0 && (r = json_item(&s, &first)) == 1) {
		struct agent *agent;

		buf_clear(&name);
		r = json_take_string(&s, &name);
		agent = r == 0 && buf_cstr(&name) ? agent_find(in->tree->root, name.data) : NULL;
		if (agent)
			buf_add(before, &agent, sizeof agent);
	}
	return name.failed || before->failed ? -ENOMEM
					     : 0; /* another writer's line may have anything here */
}

/* Find the agent that called. 1: it is gone. */
static int find_caller(struct invocation *in, const char *id, struct resumed *out, struct err *err)
{
	CLEANUP(caller_release) struct caller caller = { 0 };
	struct err reason = { 0 };
	struct span value = SPAN("");
	int r = speaker_of_call(in->host->store, in->live->ref, id, &caller, &reason);

	if (r == -ENOENT)
		return 1;
	if (r < 0) {
		*err = reason;
		return r;
	}
	if (!buf_cstr(&caller.author) || !buf_cstr(&caller.branch))
		return err_nomem(err);
	out->agent = agent_find(in->tree->root, caller.author.data);
	if (!out->agent)
		return 1;
	(void)!json_member(buf_span(&caller.line), "invocationId", &value);
	out->branch = strdup(caller.branch.data);
	out->invocation = pause_text(value);
	if (read_transferred(in, buf_span(&caller.line), &out->transferred) < 0 || !out->branch ||
	    !out->invocation)
		return err_nomem(err);
	return 0;
}

int resumed_find(struct invocation *in, struct resumed **out, size_t *n, struct err *err)
{
	CLEANUP(content_free_p) struct content *message = NULL;
	struct resumed *list;
	size_t count = 0;
	size_t i;
	int r = 0;

	if (!in->user_content.len || content_from_stored(buf_span(&in->user_content), &message) < 0)
		return 0;
	list = calloc(message->count + 1, sizeof *list);
	if (!list)
		return err_nomem(err);
	for (i = 0; r >= 0 && i < message->count; i++) {
		if (message->parts[i].kind != PART_RESPONSE || !message->parts[i].id)
			continue;
		r = find_caller(in, message->parts[i].id, &list[count], err);
		if (r == 0 && !is_listed(list, count))
			count++;
		else
			resumed_release(&list[count]);
	}
	if (r < 0) {
		resumed_free(list, count);
		return r;
	}
	*out = list;
	*n = count;
	return 0;
}

/* Resuming */

/* Cut the branch of a parallel agent's sub-agent off a branch. False: the branch is another one. */
static bool leave_branch(char *branch, const struct agent *parallel, const struct agent *sub)
{
	CLEANUP(buf_release) struct buf own = { 0 };
	size_t len = strlen(branch);
	size_t at;

	buf_printf(&own, "%s.%s", parallel->name, sub->name);
	if (own.failed || len < own.len)
		return false;
	at = len - own.len;
	if (memcmp(branch + at, own.data, own.len) != 0 || (at && branch[at - 1] != '.'))
		return false;
	branch[at ? at - 1 : 0] = '\0';
	return true;
}

/* Whether a branch is below `agent` on the branch `above`: `x.a.b` is, for `x` and `a`. */
static bool is_on(const char *branch, const char *above, const char *agent)
{
	size_t len = strlen(above);

	if (len) {
		if (strncmp(branch, above, len) != 0 || branch[len] != '.')
			return false;
		branch += len + 1;
	}
	len = strlen(agent);
	return !strncmp(branch, agent, len) && branch[len] == '.';
}

/* Whether another branch of a parallel agent waits, or has not got the answer that came for it. */
static bool others_wait(const struct pause *p, const struct agent *parallel, const char *branch,
			const struct resumed *rest, size_t n)
{
	size_t count;
	size_t i;
	const struct open_call *open = pause_open_calls(p, &count);

	for (i = 0; i < count; i++) {
		if (is_on(open[i].branch, branch, parallel->name))
			return true;
	}
	for (i = 0; i < n; i++) {
		if (is_on(rest[i].branch, branch, parallel->name))
			return true;
	}
	return false;
}

static bool waits_itself(const struct pause *p)
{
	size_t n;
	size_t i;
	const struct open_call *open = pause_open_calls(p, &n);

	for (i = 0; i < n; i++) {
		if (pause_is_callers(p, &open[i]))
			return true;
	}
	return false;
}

/* Let a workflow agent continue after a sub-agent that is done. 1: it does not continue. */
static int go_on(struct agent_run *run, const struct pause *p, const struct agent *done,
		 char *branch, const struct resumed *rest, size_t n)
{
	const struct agent *agent = run->agent;
	const struct pause_place *place = pause_find_place(p, agent->name);
	bool is_there = place && place->sub && !strcmp(place->sub, done->name);
	int r;

	if (agent->kind == AGENT_PARALLEL) {
		if (place || !leave_branch(branch, agent, done) ||
		    others_wait(p, agent, branch, rest, n))
			return 1;
		run->branch = *branch ? branch : NULL;
	} else if (!is_there) {
		return 1; /* the agent did not pause here, or the tree has changed */
	}
	run->escalated |= agent->kind == AGENT_LOOP && place->escalated;
	r = workflow_go_on(run, done, place ? place->times_looped : 0);
	return run_agent_end(run, run->agent, r);
}

/* Let the agents around the resumed one continue, until one waits. */
static int climb(struct agent_run *run, const struct pause *p, char *branch,
		 const struct resumed *rest, size_t n)
{
	const struct agent *done = run->agent;
	int r = 0;

	while (r == 0 && !run->paused && done->parent) {
		run->agent = done->parent;
		if (run->agent->kind != AGENT_LLM)
			r = go_on(run, p, done, branch, rest, n);
		done = run->agent;
	}
	return r < 0 ? r : 0;
}

/* Note an escalate for the loop around the agent, which reads it when it goes on. */
static int keep_escalate(struct agent_run *run, const struct pause *p, char *branch)
{
	const struct pause_place *place;
	const struct agent *sub = run->agent;
	struct agent *around = sub->parent;

	for (; around && around->kind != AGENT_LOOP; around = around->parent) {
		if (around->kind == AGENT_PARALLEL)
			(void)leave_branch(branch, around, sub);
		sub = around;
	}
	place = around ? pause_find_place(p, around->name) : NULL;
	if (!place || !place->sub || place->escalated || strcmp(place->sub, sub->name) != 0)
		return 0;
	run->agent = around;
	run->branch = *branch ? branch : NULL;
	return workflow_place(run, place->sub, place->times_looped);
}

/*
 * Let the agents that transferred to the resumed one end with it. If it never waited, they have
 * ended.
 */
static int take_transferred(struct agent_run *run, const struct pause *p, struct resumed *one)
{
	CLEANUP(pause_release)
	struct pause was = { .agent = p->agent, .branch = p->branch };
	struct err err = { 0 };

	if (!one->transferred.len)
		return 0;
	if (pause_load(&was, run->sink->in, one->invocation, &err) < 0)
		return run_fail(run, NULL, &err);
	if (was.has_waited) {
		run->transferred = one->transferred;
		one->transferred = (struct buf){ 0 };
	}
	return 0;
}

/* Resume the agent itself. p: gets the pause as it is after the work of the agent. */
static int resume_agent(struct agent_run *run, struct pause *p, struct resumed *one)
{
	struct agent *own = run->agent;
	struct err err = { 0 };
	int worked;
	int r = take_transferred(run, p, one);

	if (r < 0)
		return r;
	worked = run_transfers(run, run_own_work(run));
	if (worked < 0)
		return worked;
	if (pause_load(p, run->sink->in, one->invocation, &err) < 0)
		return run_fail(run, NULL, &err);
	run->paused |= waits_itself(p);
	return run_agent_end(run, own, worked);
}

static int resume_one(struct agent_run *run, struct resumed *one, const struct resumed *rest,
		      size_t n)
{
	CLEANUP(pause_release)
	struct pause pause = { .agent = run->agent, .branch = one->branch };
	int r = run->agent->kind == AGENT_PROGRAM ? 0 : confirm_is_spent(run);

	if (r)
		return r < 0 ? r : 0;
	r = resume_agent(run, &pause, one);
	if (r == 0 && pause.is_one)
		r = climb(run, &pause, one->branch, rest, n);
	if (r == 0 && run->escalated)
		r = keep_escalate(run, &pause, one->branch);
	return r;
}

int resumed_run(struct event_sink *sink, struct resumed *list, size_t n, struct failure *failure)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < n; i++) {
		struct agent_run run = { .sink = sink,
					 .agent = list[i].agent,
					 .branch = *list[i].branch ? list[i].branch : NULL,
					 .failure = failure };

		r = resume_one(&run, &list[i], list + i + 1, n - i - 1);
		buf_release(&run.transferred);
	}
	return r;
}
