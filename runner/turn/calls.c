/*
 * The calls of an answer: see calls.h.
 */
#include "runner/turn/calls.h"

#include "base/thread.h"
#include "runner/history/open_calls.h"
#include "runner/turn/call.h"
#include "runner/turn/commit.h"
#include "runner/turn/confirm.h"
#include "runner/turn/run.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define CALL_STACK    (512u << 10)
#define CALLS_AT_ONCE 64
#define ANSWERS_MAX   (48u << 20) /* bytes of the responses and state changes in one event */

struct batch {
	struct agent_run *run;
	struct tool_call *list;
	size_t count;
	atomic_size_t next; /* the first call that has not begun */
};

void calls_result_release(struct calls_result *result)
{
	buf_release(&result->response);
}

static void batch_release(struct batch *b)
{
	size_t i;

	for (i = 0; i < b->count; i++)
		call_release(&b->list[i]);
	free(b->list);
}

/* Running the calls */

static void *run_some(void *arg)
{
	struct batch *b = arg;
	size_t i;

	while ((i = atomic_fetch_add(&b->next, 1)) < b->count)
		call_run(&b->list[i]);
	return NULL;
}

/* Run the calls on threads; this thread runs those that are left. */
static void run_all(struct batch *b)
{
	pthread_t threads[CALLS_AT_ONCE];
	size_t n = 0;

	while (n + 1 < b->count && n < CALLS_AT_ONCE - 1 &&
	       thread_start(CALL_STACK, run_some, b, &threads[n]) == 0)
		n++;
	(void)run_some(b);
	while (n)
		(void)pthread_join(threads[--n], NULL);
}

static int add_call_of(struct batch *b, const struct offer *offer, const char *id, const char *name,
		       struct span args)
{
	struct tool_call *call = &b->list[b->count++];
	struct err reason = { 0 };

	*call = (struct tool_call){ .run = b->run, .offer = offer, .id = id, .name = name };
	call->tool = offer_find(offer, name);
	if (!args.len)
		args = SPAN("{}");
	if (json_canonical_text(args, JSON_DEPTH_FREE, &call->args, &reason) < 0)
		buf_span_add(&call->args,
			     args); /* use_tool() refuses args that are not an object */
	buf_span_add(&call->logged, buf_span(&call->args));
	return call->args.failed ? -ENOMEM : buf_check(&call->logged, NULL);
}

static int take_calls(struct batch *b, const struct offer *offer, const struct content *content)
{
	size_t i;

	b->list = calloc(content->count + 1, sizeof *b->list);
	if (!b->list)
		return -ENOMEM;
	for (i = 0; i < content->count; i++) {
		const struct part *p = &content->parts[i];

		if (p->kind == PART_CALL &&
		    add_call_of(b, offer, p->id, p->name, span_of(p->json)) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* The event of the answers */

static struct call_report *report_calls(const struct batch *b)
{
	struct call_report *reports = calloc(b->count + 1, sizeof *reports);
	size_t i;

	for (i = 0; reports && i < b->count; i++) {
		reports[i].kind = CALL_TOOL;
		reports[i].id = b->list[i].id;
		reports[i].nsec = b->list[i].nsec;
		reports[i].stderr_text = buf_span(&b->list[i].stderr_text);
	}
	return reports;
}

/* Refuse a result that fits into an event alone, but not beside the others. */
static int limit_answer(struct tool_call *call, size_t *total)
{
	size_t size = call->response.len + stateview_size(call->changes.state);
	int r = 0;

	if (size > ANSWERS_MAX - *total) {
		r = call_error(call, "the result and the changes of the state are too large beside "
				     "those of the other calls");
		if (r == 0)
			r = call_drop(call);
		size = call->response.len;
	}
	*total += MIN(size, ANSWERS_MAX - *total);
	return r;
}

/* The event of all answers, being made. */
struct answers {
	struct event e;
	struct content *content;
	struct buf pending; /* ids, a JSON list */
};

static void answers_release(struct answers *a)
{
	event_release(&a->e);
	content_free(a->content);
	buf_release(&a->pending);
}

/*
 * Answer a long-running call that has no response yet. An approved call is pending: the log has
 * the placeholder of its confirmation. Any other gets no answer.
 */
static int add_pending(struct answers *a, const struct tool_call *call)
{
	if (!call->approved)
		return 0;
	return pending_add(a->content, &a->pending, call->id, call->name);
}

static int add_answer(struct answers *a, const struct tool_call *call)
{
	if (!call->response.len)
		return add_pending(a, call);
	return content_add_function(a->content, PART_RESPONSE, call->id, call->name,
				    buf_span(&call->response));
}

static void put_answers(struct answers *a)
{
	if (a->content->count)
		event_set_content(&a->e, a->content);
	pending_put(&a->e, &a->pending);
}

static int merge_all(struct batch *b, struct changes *all, struct answers *a, struct err *err)
{
	size_t total = 0;
	size_t i;
	int r = (a->content = content_new("user")) ? 0 : -ENOMEM;

	for (i = 0; r == 0 && i < b->count; i++) {
		struct tool_call *call = &b->list[i];

		r = limit_answer(call, &total);
		if (r == 0)
			r = changes_merge(all, &call->changes, err);
		if (r == 0)
			r = add_answer(a, call);
	}
	if (r == 0)
		put_answers(a);
	if (r < 0 && !err->code)
		err->code = r;
	return r;
}

/* Give the call that made the bad save an error; the other calls are unaffected. Returns 1. */
static int refuse_save(struct batch *b, const struct changes *all, size_t bad, struct err *err)
{
	const struct save *saves = BUF_LIST(const struct save, &all->saves, NULL);
	const char *name = saves[bad - 1].name;
	struct tool_call *call = b->list;
	size_t upto = call->changes.saves.len / sizeof *saves;
	int r;

	while (upto < bad)
		upto += (++call)->changes.saves.len / sizeof *saves;
	r = call_error(call, "artifact %.300s cannot be saved: %s", name, err->text);
	*err = (struct err){ 0 };
	if (r == 0)
		r = call_drop(call);
	return r < 0 ? err_nomem(err) : 1;
}

/* Commit the answers. all: gets the changes of the calls. 1: a save was refused; try again. */
static int try_answers(struct batch *b, struct changes *all, const struct call_report *reports,
		       struct err *err)
{
	CLEANUP(answers_release) struct answers a = { 0 };
	struct run_event re = { &a.e, all, reports, b->count, 0 };
	size_t i;
	int r = merge_all(b, all, &a, err);

	if (r == 0 && (a.content->count || changes_any(all)))
		r = run_try_commit(b->run, &re, err);
	else if (r == 0 && !b->run->sink->nested)
		r = run_report(b->run, reports, b->count);
	if (r < 0 && re.bad_save && save_refused(r))
		r = refuse_save(b, all, re.bad_save, err);
	if (r)
		changes_forget(all);
	for (i = 0; r == 0 && i < b->count; i++)
		changes_forget(&b->list[i].changes);
	return r;
}

static int copy_actions(struct changes *to, const struct buf *actions)
{
	buf_span_add(&to->actions, buf_span(actions));
	return buf_check(&to->actions, NULL);
}

/*
 * Commit the answers. asked: more actions of the event. all: empty; gets the changes of the calls.
 */
static int commit_answers(struct batch *b, const struct buf *asked, struct changes *all)
{
	struct call_report *reports = report_calls(b);
	struct err err = { 0 };
	int r = reports ? 1 : -ENOMEM;

	while (r == 1) {
		changes_release(all);
		r = changes_init(all, b->run);
		if (r == 0)
			r = copy_actions(all, asked);
		if (r == 0)
			r = try_answers(b, all, reports, &err);
	}
	free(reports);
	if (r < 0 && !err.code)
		(void)err_nomem(&err);
	return r < 0 ? run_fail(b->run, NULL, &err) : 0;
}

/* Commit the last event of a turn that fails; an error here does not replace its reason. */
static void close_with(struct agent_run *run, struct event *e)
{
	struct failure hidden = { 0 };
	struct agent_run last = *run;

	last.failure = &hidden;
	(void)!run_commit(&last, e, NULL, NULL, 0);
	failure_release(&hidden);
}

void calls_close(struct agent_run *run, const struct content *answers)
{
	CLEANUP(event_release) struct event e = { 0 };

	if (!answers->count)
		return;
	event_set_content(&e, answers);
	close_with(run, &e);
}

/* Answer the calls of a turn that fails. */
static void close_batch(struct batch *b)
{
	CLEANUP(answers_release) struct answers a = { .content = content_new("user") };
	size_t i;

	for (i = 0; a.content && i < b->count; i++) {
		const struct tool_call *call = &b->list[i];

		if (call->tool && call->tool->long_running)
			(void)!add_pending(&a, call);
		else
			(void)!content_add_function(a.content, PART_RESPONSE, call->id, call->name,
						    SPAN(OPEN_CALLS_CUT_SHORT));
	}
	if (!a.content || !a.content->count)
		return;
	put_answers(&a);
	close_with(b->run, &a.e);
}

/* The result for the agent */

static void read_result(const struct batch *b, struct span actions, struct calls_result *out)
{
	struct span value;
	size_t i;

	for (i = 0; i < b->count; i++) {
		const struct tool_call *call = &b->list[i];

		out->paused |= call->asks || !call->response.len;
		out->transfer = call->transfer ? call->transfer : out->transfer;
		if (!call->tool || call->tool->kind != TOOL_MODEL_RESPONSE)
			continue;
		if (!span_is(buf_span(&call->response), "{\"result\":null}"))
			out->misfit = true;
		else if (!out->response.len)
			buf_span_add(&out->response, buf_span(&call->args));
	}
	if (actions.len && json_member(actions, "skipSummarization", &value) == 0)
		out->skipped = span_is(value, "true");
}

static int first_failure(const struct batch *b)
{
	size_t i;

	for (i = 0; i < b->count; i++) {
		if (b->list[i].err.code)
			return b->list[i].err.code;
	}
	return 0;
}

static int run_batch(struct batch *b, struct calls_result *out)
{
	CLEANUP(changes_release) struct changes all = { 0 };
	CLEANUP(buf_release) struct buf asked = { 0 };
	int r;

	atomic_fetch_add(b->run->sink->in->host->tool_calls, b->count);
	run_all(b);
	r = first_failure(b);
	if (r == 0)
		r = confirm_ask(b->run, b->list, b->count, &asked);
	if (r == 0)
		r = commit_answers(b, &asked, &all);
	if (r < 0) {
		close_batch(b);
		return r;
	}
	read_result(b, buf_span(&all.actions), out);
	return 0;
}

int calls_run(struct agent_run *run, const struct offer *offer, const struct content *content,
	      struct calls_result *out)
{
	CLEANUP(batch_release) struct batch b = { .run = run };

	if (take_calls(&b, offer, content) < 0)
		return run_nomem(run);
	return run_batch(&b, out);
}

int calls_confirmed(struct agent_run *run, const struct offer *offer, struct calls_result *out)
{
	CLEANUP(batch_release) struct batch b = { .run = run };
	struct confirmed *list;
	size_t n;
	size_t i;
	int r = confirm_find(run, &list, &n);

	if (r < 0)
		return r;
	if (!n) {
		confirm_free(list, 0);
		return 0;
	}
	b.list = calloc(n + 1, sizeof *b.list);
	for (i = 0; r == 0 && i < n; i++) {
		r = b.list ? add_call_of(&b, offer, list[i].id, list[i].name,
					 buf_span(&list[i].args))
			   : -ENOMEM;
		if (r == 0) {
			b.list[i].approved = list[i].approved;
			b.list[i].reason = list[i].approved ? NULL : list[i].reason;
		}
	}
	r = r < 0 ? run_nomem(run) : run_batch(&b, out);
	confirm_free(list, n);
	return r < 0 ? r : 1;
}
