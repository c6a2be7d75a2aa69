/*
 * Turns that an earlier process left running: see invocation.h.
 */
#include "runner/invocation.h"

#include "runner/open_calls.h"

/* The calls of a turn. */
struct turn_calls {
	struct span invocation;
	struct open_calls open;
};

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
	return open_calls_note(&calls->open, &e);
}

/* Answers to the calls of an event that had not finished. */
static int answer_calls(struct store *st, struct ref session, const struct turn_info *info,
			const struct asking *a, struct err *err)
{
	CLEANUP(content_free_p) struct content *content = content_new("user");
	CLEANUP(event_release) struct event e = { 0 };
	struct turn_commit commit = { .events = &e, .count = 1 };
	struct turn_info after;
	int r;

	if (!content || asking_close(a, SPAN(OPEN_CALLS_CUT_SHORT), content) < 0)
		return err_nomem(err);
	if (!content->count)
		return 0;
	event_set_text(&e, EVENT_INVOCATION, span_of(info->invocation));
	event_set_text(&e, EVENT_AUTHOR, buf_span(&a->author));
	if (a->branch.len)
		event_set_text(&e, EVENT_BRANCH, buf_span(&a->branch));
	event_set_content(&e, content);
	r = event_check(&e, err);
	return r < 0 ? r : turn_commit(st, session, info->n, &commit, &after, err);
}

static int answer_all(struct store *st, struct ref session, const struct turn_info *info,
		      const struct open_calls *open, struct err *err)
{
	size_t n;
	struct asking *list = open_calls_list(open, &n);
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < n; i++)
		r = answer_calls(st, session, info, &list[i], err);
	return r;
}

int invocation_abort(struct store *st, struct ref session, uint64_t n, struct err *err)
{
	static const char why[] = "the daemon ended while the turn ran";
	struct turn_calls calls = { 0 };
	CLEANUP(event_release) struct event e = { 0 };
	struct turn_info info;
	int r = turn_stat(st, session, n, &info, err);

	if (r < 0)
		return r;
	calls.invocation = span_of(info.invocation);
	r = session_lines(st, session, info.first, info.last, note_calls, &calls, err);
	if (r == 0)
		r = answer_all(st, session, &info, &calls.open, err);
	open_calls_release(&calls.open);
	if (r < 0)
		return r;
	event_set_text(&e, EVENT_INVOCATION, span_of(info.invocation));
	event_set_text(&e, EVENT_AUTHOR, span_of(info.agent[0] ? info.agent : "agent"));
	event_set_text(&e, EVENT_ERROR_CODE, SPAN("ABORTED"));
	event_set_text(&e, EVENT_ERROR_MESSAGE, span_of(why));
	return turn_end(st, session, n, TURN_FAILED, why, &e, &info, err);
}
