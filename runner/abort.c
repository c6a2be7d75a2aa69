/*
 * Turns that an earlier process left running: see invocation.h.
 */
#include "runner/invocation.h"

#include "runner/pairing.h"

#include <errno.h>

/* An event with calls, and which of them have no answer. */
struct asking {
	struct content *content; /* a call that was answered is no call any more */
	struct buf author;
	struct buf branch;
	struct buf long_running; /* JSON list */
};

struct open_calls {
	struct span invocation;
	struct buf list; /* of struct asking */
};

static struct asking *list_of(const struct open_calls *open, size_t *n)
{
	*n = open->list.len / sizeof(struct asking);
	return (struct asking *)(void *)open->list.data;
}

static void asking_release(struct asking *a)
{
	content_free(a->content);
	buf_release(&a->author);
	buf_release(&a->branch);
	buf_release(&a->long_running);
}

static void open_calls_release(struct open_calls *open)
{
	size_t n;
	struct asking *list = list_of(open, &n);
	size_t i;

	for (i = 0; i < n; i++)
		asking_release(&list[i]);
	buf_release(&open->list);
}

static void answered(struct open_calls *open, const char *id)
{
	size_t n;
	struct asking *list = list_of(open, &n);
	size_t k;

	while (id && n-- > 0) {
		for (k = 0; k < list[n].content->count; k++) {
			struct part *p = &list[n].content->parts[k];

			if (p->kind == PART_CALL && p->id && !strcmp(p->id, id))
				part_release(p);
		}
	}
}

static int add_asking(struct open_calls *open, const struct event *e, struct content **content)
{
	struct asking a = { .content = *content };
	int r = event_text(e, EVENT_AUTHOR, &a.author);

	if (r == 0)
		r = event_text(e, EVENT_BRANCH, &a.branch);
	buf_span_add(&a.long_running, event_json(e, EVENT_LONG_RUNNING));
	if (r == 0)
		r = buf_check(&a.long_running, NULL);
	if (r == 0) {
		buf_add(&open->list, &a, sizeof a);
		r = buf_check(&open->list, NULL);
	}
	if (r == 0)
		*content = NULL;
	else
		a.content = NULL; /* it stays the caller's */
	if (r < 0)
		asking_release(&a);
	return r;
}

static int note_calls(void *arg, struct span line)
{
	struct open_calls *open = arg;
	CLEANUP(event_release) struct event e = { 0 };
	CLEANUP(content_free_p) struct content *content = NULL;
	CLEANUP(buf_release) struct buf invocation = { 0 };
	struct span json;
	size_t i;
	int r = event_from_json(line, &e, NULL);

	if (r == 0)
		r = event_text(&e, EVENT_INVOCATION, &invocation);
	json = event_json(&e, EVENT_CONTENT);
	if (r < 0 || !json.len || !span_equal(buf_span(&invocation), open->invocation))
		return r;
	r = content_from_stored(json, &content);
	for (i = 0; r == 0 && i < content->count; i++) {
		if (content->parts[i].kind == PART_RESPONSE)
			answered(open, content->parts[i].id);
	}
	return r < 0 || !content_has(content, PART_CALL) ? r : add_asking(open, &e, &content);
}

/* Answers to the calls of an event that had not finished. */
static int answer_calls(struct store *st, struct ref session, const struct turn_info *info,
			struct asking *a, struct err *err)
{
	CLEANUP(content_free_p) struct content *content = content_new("user");
	CLEANUP(event_release) struct event e = { 0 };
	struct turn_commit commit = { .events = &e, .count = 1 };
	struct turn_info after;
	size_t i;
	int r = content ? 0 : err_nomem(err);

	for (i = 0; r == 0 && i < a->content->count; i++) {
		const struct part *p = &a->content->parts[i];

		if (p->kind == PART_CALL && !pairing_lists(buf_span(&a->long_running), p->id))
			r = content_add_function(
				content, PART_RESPONSE, p->id, p->name,
				SPAN("{\"error\":\"the turn ended before the tool did\"}"));
	}
	if (r < 0)
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
		      struct open_calls *open, struct err *err)
{
	size_t n;
	struct asking *list = list_of(open, &n);
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < n; i++)
		r = answer_calls(st, session, info, &list[i], err);
	return r;
}

int invocation_abort(struct store *st, struct ref session, uint64_t n, struct err *err)
{
	static const char why[] = "the daemon ended while the turn ran";
	CLEANUP(open_calls_release) struct open_calls open = { 0 };
	CLEANUP(event_release) struct event e = { 0 };
	struct turn_info info;
	int r = turn_stat(st, session, n, &info, err);

	if (r < 0)
		return r;
	open.invocation = span_of(info.invocation);
	r = session_lines(st, session, info.first, info.last, note_calls, &open, err);
	if (r == 0)
		r = answer_all(st, session, &info, &open, err);
	if (r < 0)
		return r;
	event_set_text(&e, EVENT_INVOCATION, span_of(info.invocation));
	event_set_text(&e, EVENT_AUTHOR, span_of(info.agent[0] ? info.agent : "agent"));
	event_set_text(&e, EVENT_ERROR_CODE, SPAN("ABORTED"));
	event_set_text(&e, EVENT_ERROR_MESSAGE, span_of(why));
	return turn_end(st, session, n, TURN_FAILED, why, &e, &info, err);
}
