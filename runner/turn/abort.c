/*
 * Turns that an earlier process left running: see invocation.h.
 */
#include "runner/turn/invocation.h"

#include "runner/history/open_calls.h"
#include "runner/history/pairing.h"
#include "runner/turn/confirm.h"
#include "runner/turn/run.h"
#include "store/session/log.h"
#include "store/turn/text.h"

#include <errno.h>

/* The calls of an aborted turn. */
struct turn_calls {
	struct span invocation;
	struct open_calls open;
	bool begun;              /* the first line of the turn was read */
	struct content *message; /* of the first line; NULL: it has no content */
	struct buf earlier;      /* of struct answer */
};

/* An event in the making that answers calls of another one. */
struct answer {
	struct content *content;
	struct buf author;
	struct buf branch;  /* empty: none */
	struct buf pending; /* JSON list in the making, of calls that still wait; or empty */
	struct buf line;    /* the event with the calls */
};

static void answer_release(struct answer *a)
{
	content_free(a->content);
	buf_release(&a->author);
	buf_release(&a->branch);
	buf_release(&a->pending);
	buf_release(&a->line);
}

static struct answer *list_of(const struct turn_calls *calls, size_t *n)
{
	return BUF_LIST(struct answer, &calls->earlier, n);
}

static void turn_calls_release(struct turn_calls *calls)
{
	size_t n;
	struct answer *list = list_of(calls, &n);

	while (n-- > 0)
		answer_release(&list[n]);
	buf_release(&calls->earlier);
	content_free(calls->message);
	open_calls_release(&calls->open);
}

static int note_message(struct turn_calls *calls, const struct event *e)
{
	calls->begun = true;
	return turn_content(e, &calls->message);
}

static int note_calls(void *arg, struct span line)
{
	struct turn_calls *calls = arg;
	CLEANUP(event_release) struct event e = { 0 };
	CLEANUP(buf_release) struct buf invocation = { 0 };
	int r = event_from_json(line, &e, NULL);

	if (r == 0)
		r = event_text(&e, EVENT_INVOCATION, &invocation);
	if (r < 0 || !span_equal(buf_span(&invocation), calls->invocation))
		return r;
	if (!calls->begun)
		r = note_message(calls, &e);
	return r < 0 ? r : open_calls_note(&calls->open, &e);
}

/* Find or add the answer to the event that the decision is about; NULL: out of memory. */
static struct answer *need_answer(struct turn_calls *calls, struct decision *d)
{
	struct answer new = { .line = d->caller.line };
	size_t n;
	struct answer *list = list_of(calls, &n);

	while (n-- > 0) {
		if (span_equal(buf_span(&list[n].line), buf_span(&d->caller.line)))
			return &list[n];
	}
	new.content = content_new("user");
	if (!new.content)
		return NULL;
	new.author = d->caller.author;
	new.branch = d->caller.branch;
	buf_add(&calls->earlier, &new, sizeof new);
	if (calls->earlier.failed) {
		content_free(new.content);
		return NULL;
	}
	d->caller.author = d->caller.branch = d->caller.line = (struct buf){ 0 };
	list = list_of(calls, &n);
	return &list[n - 1];
}

static bool has_answer(const struct content *content, const char *id)
{
	size_t i;

	for (i = 0; i < content->count; i++) {
		if (!strcmp(content->parts[i].id, id))
			return true;
	}
	return false;
}

/* Answer a call; a long-running call is pending from now on, since its answer may come later. */
static int answer_decided(struct turn_calls *calls, struct decision *d, bool long_running)
{
	struct answer *a = need_answer(calls, d);
	const struct part *call = d->caller.call;

	if (!a || has_answer(a->content, call->id))
		return a ? 0 : -ENOMEM;
	if (long_running)
		return pending_add(a->content, &a->pending, call->id, call->name);
	return content_add_function(a->content, PART_RESPONSE, call->id, call->name,
				    SPAN(OPEN_CALLS_CUT_SHORT));
}

/*
 * Note a call that the message decides about. A call that the turn has made itself waits for
 * another message. A long-running call that was rejected has not begun.
 */
static int note_decided(struct turn_calls *calls, struct decision *d)
{
	CLEANUP(event_release) struct event e = { 0 };
	CLEANUP(buf_release) struct buf invocation = { 0 };
	bool long_running;
	int r = event_from_json(buf_span(&d->caller.line), &e, NULL);

	if (r == 0)
		r = event_text(&e, EVENT_INVOCATION, &invocation);
	if (r < 0 || span_equal(buf_span(&invocation), calls->invocation))
		return r;
	long_running = pairing_lists(event_json(&e, EVENT_LONG_RUNNING), d->caller.call->id);
	return long_running && !d->approved ? 0 : answer_decided(calls, d, long_running);
}

/*
 * Answer the calls that the message decides about: they may have begun, and a decision counts once.
 */
static int note_all_decided(struct store *st, struct ref session, uint64_t n,
			    struct turn_calls *calls, struct err *err)
{
	size_t i;
	int r = 0;

	for (i = 0; r >= 0 && calls->message && i < calls->message->count; i++) {
		CLEANUP(decision_release) struct decision d = { 0 };

		r = decision_find(st, session, n, &calls->message->parts[i], &d, err);
		if (r == 0 && note_decided(calls, &d) < 0)
			r = err_nomem(err);
	}
	return r < 0 ? r : 0;
}

/* Answers */

static int commit_answer(struct store *st, struct ref session, const struct turn_info *info,
			 struct answer *a, struct err *err)
{
	CLEANUP(event_release) struct event e = { 0 };
	struct turn_commit commit = { .events = &e, .count = 1 };
	struct turn_info after;
	int r;

	event_set_text(&e, EVENT_INVOCATION, span_of(info->invocation));
	event_set_text(&e, EVENT_AUTHOR, buf_span(&a->author));
	if (a->branch.len)
		event_set_text(&e, EVENT_BRANCH, buf_span(&a->branch));
	event_set_content(&e, a->content);
	pending_put(&e, &a->pending);
	r = event_check(&e, err);
	return r < 0 ? r : turn_commit(st, session, info->n, &commit, &after, err);
}

/* Answer the calls of an event that had not finished. */
static int answer_calls(struct store *st, struct ref session, const struct turn_info *info,
			const struct open_event *open, struct err *err)
{
	CLEANUP(answer_release) struct answer a = { .content = content_new("user") };

	buf_span_add(&a.author, buf_span(&open->author));
	buf_span_add(&a.branch, buf_span(&open->branch));
	if (!a.content || a.author.failed || a.branch.failed ||
	    open_event_answer(open, SPAN(OPEN_CALLS_CUT_SHORT), a.content) < 0)
		return err_nomem(err);
	return a.content->count ? commit_answer(st, session, info, &a, err) : 0;
}

static int answer_earlier(struct store *st, struct ref session, const struct turn_info *info,
			  const struct turn_calls *calls, struct err *err)
{
	size_t n;
	struct answer *list = list_of(calls, &n);
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < n; i++)
		r = commit_answer(st, session, info, &list[i], err);
	return r;
}

static int answer_all(struct store *st, struct ref session, const struct turn_info *info,
		      const struct open_calls *open, struct err *err)
{
	size_t n;
	struct open_event *list = open_calls_list(open, &n);
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < n; i++)
		r = answer_calls(st, session, info, &list[i], err);
	return r;
}

int invocation_abort(struct store *st, struct ref session, uint64_t n, struct err *err)
{
	static const char why[] = "the daemon ended while the turn ran";
	CLEANUP(turn_calls_release) struct turn_calls calls = { 0 };
	CLEANUP(event_release) struct event e = { 0 };
	struct turn_commit last = { .events = &e, .count = 1, .end = TURN_FAILED, .error = why };
	struct turn_info info;
	int r = turn_stat(st, session, n, &info, err);

	if (r < 0)
		return r;
	calls.invocation = span_of(info.invocation);
	r = session_lines(st, (struct log_range){ session, info.first, info.last }, note_calls,
			  &calls, err);
	if (r == 0)
		r = note_all_decided(st, session, n, &calls, err);
	if (r == 0)
		r = answer_earlier(st, session, &info, &calls, err);
	if (r == 0)
		r = answer_all(st, session, &info, &calls.open, err);
	if (r < 0)
		return r;
	event_set_text(&e, EVENT_INVOCATION, span_of(info.invocation));
	event_set_text(&e, EVENT_AUTHOR, span_of(info.agent[0] ? info.agent : "agent"));
	event_set_text(&e, EVENT_ERROR_CODE, SPAN("ABORTED"));
	event_set_text(&e, EVENT_ERROR_MESSAGE, span_of(why));
	return turn_commit(st, session, n, &last, &info, err);
}
