/*
 * Open calls: see open_calls.h.
 */
#include "runner/history/open_calls.h"

#include "runner/history/pairing.h"
#include "store/turn/text.h"

#include <errno.h>

struct open_event *open_calls_list(const struct open_calls *open, size_t *n)
{
	return BUF_LIST(struct open_event, &open->list, n);
}

static void open_event_release(struct open_event *a)
{
	content_free(a->content);
	buf_release(&a->author);
	buf_release(&a->branch);
	buf_release(&a->long_running);
}

void open_calls_release(struct open_calls *open)
{
	size_t n;
	struct open_event *list = open_calls_list(open, &n);
	size_t i;

	for (i = 0; i < n; i++)
		open_event_release(&list[i]);
	buf_release(&open->list);
}

/* Match by id; by name if there are no ids. */
static bool is_answer(const struct part *response, const struct part *call)
{
	bool has_id = call->id && *call->id;

	if (call->kind != PART_CALL || has_id != (response->id && *response->id))
		return false;
	return has_id ? !strcmp(call->id, response->id) : !strcmp(call->name, response->name);
}

/* Release the calls among the first n parts that a response answers. */
static void answer_in(struct content *content, size_t n, const struct part *response)
{
	while (n-- > 0) {
		if (is_answer(response, &content->parts[n]))
			part_release(&content->parts[n]);
	}
}

static void answer_all(struct open_calls *open, const struct part *response)
{
	size_t n;
	struct open_event *list = open_calls_list(open, &n);
	size_t i;

	for (i = n; i-- > 0;) {
		answer_in(list[i].content, list[i].content->count, response);
		if (content_has(list[i].content, PART_CALL))
			continue;
		open_event_release(&list[i]);
		memmove(list + i, list + i + 1, (--n - i) * sizeof *list);
		open->list.len -= sizeof *list;
	}
}

/* Add an event. Takes *content, unless this fails. */
static int add_event(struct open_calls *open, const struct event *e, struct content **content)
{
	struct open_event a = { .content = *content };
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
		a.content = NULL; /* the content stays the caller's */
	if (r < 0)
		open_event_release(&a);
	return r;
}

int open_calls_note(struct open_calls *open, const struct event *e)
{
	CLEANUP(content_free_p) struct content *content = NULL;
	size_t i;
	int r = turn_content(e, &content);

	if (r < 0 || !content)
		return r;
	for (i = 0; i < content->count; i++) {
		const struct part *p = &content->parts[i];

		if (p->kind != PART_RESPONSE ||
		    pairing_lists(event_json(e, EVENT_LONG_RUNNING), p->id))
			continue;
		answer_in(content, i, p);
		answer_all(open, p);
	}
	return content_has(content, PART_CALL) ? add_event(open, e, &content) : 0;
}

static bool is_open(const struct open_event *a, const struct part *p, bool long_running)
{
	return p->kind == PART_CALL &&
	       pairing_lists(buf_span(&a->long_running), p->id) == long_running;
}

bool open_calls_wait(const struct open_calls *open)
{
	size_t n;
	const struct open_event *list = open_calls_list(open, &n);
	size_t k;

	for (; n > 0; n--, list++) {
		for (k = 0; k < list->content->count; k++) {
			if (is_open(list, &list->content->parts[k], true))
				return true;
		}
	}
	return false;
}

int open_event_answer(const struct open_event *a, struct span response, struct content *to)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < a->content->count; i++) {
		const struct part *p = &a->content->parts[i];

		if (is_open(a, p, false))
			r = content_add_function(to, PART_RESPONSE, p->id, p->name, response);
	}
	return r;
}

int pending_add(struct content *to, struct buf *pending, const char *id, const char *name)
{
	buf_char(pending, pending->len ? ',' : '[');
	json_quote(pending, span_of(id));
	return content_add_function(to, PART_RESPONSE, id, name, SPAN(PAIRING_PENDING));
}

void pending_put(struct event *e, struct buf *pending)
{
	if (!pending->len)
		return;
	buf_char(pending, ']');
	e->text.failed |= pending->failed;
	event_set_json(e, EVENT_LONG_RUNNING, buf_span(pending));
}
