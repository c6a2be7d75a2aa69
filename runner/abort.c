/*
 * Turns that an earlier process left running: see invocation.h.
 */
#include "runner/invocation.h"

#include <errno.h>

struct open_calls {
	struct span invocation;
	struct content *last; /* calls of the last event that had some, not answered */
	struct buf author;
	struct buf branch;
};

static void open_calls_release(struct open_calls *open)
{
	content_free(open->last);
	buf_release(&open->author);
	buf_release(&open->branch);
}

static int note_calls(void *arg, struct span line)
{
	struct open_calls *open = arg;
	CLEANUP(event_release) struct event e = { 0 };
	CLEANUP(content_free_p) struct content *content = NULL;
	CLEANUP(buf_release) struct buf invocation = { 0 };
	struct span json;
	int r = event_from_json(line, &e, NULL);

	if (r == 0)
		r = event_text(&e, EVENT_INVOCATION, &invocation);
	json = event_json(&e, EVENT_CONTENT);
	if (r < 0 || !json.len || !span_equal(buf_span(&invocation), open->invocation))
		return r;
	r = content_from_stored(json, &content);
	if (r < 0 || (!content_has(content, PART_RESPONSE) && !content_has(content, PART_CALL)))
		return r;
	content_free(open->last);
	open->last = NULL;
	buf_clear(&open->author);
	buf_clear(&open->branch);
	if (!content_has(content, PART_CALL))
		return 0;
	open->last = STEAL(&content);
	r = event_text(&e, EVENT_AUTHOR, &open->author);
	return r < 0 ? r : event_text(&e, EVENT_BRANCH, &open->branch);
}

/* Answers to the calls that had not finished. */
static int answer_calls(struct store *st, struct ref session, const struct turn_info *info,
			struct open_calls *open, struct err *err)
{
	CLEANUP(content_free_p) struct content *content = content_new("user");
	CLEANUP(event_release) struct event e = { 0 };
	struct turn_commit commit = { .events = &e, .count = 1 };
	struct turn_info after;
	size_t i;
	int r = content ? 0 : err_nomem(err);

	for (i = 0; r == 0 && i < open->last->count; i++) {
		const struct part *p = &open->last->parts[i];

		if (p->kind == PART_CALL)
			r = content_add_function(
				content, PART_RESPONSE, p->id, p->name,
				SPAN("{\"error\":\"the turn ended before the tool did\"}"));
	}
	if (r < 0)
		return err_nomem(err);
	event_set_text(&e, EVENT_INVOCATION, span_of(info->invocation));
	event_set_text(&e, EVENT_AUTHOR, buf_span(&open->author));
	if (open->branch.len)
		event_set_text(&e, EVENT_BRANCH, buf_span(&open->branch));
	event_set_content(&e, content);
	r = event_check(&e, err);
	return r < 0 ? r : turn_commit(st, session, info->n, &commit, &after, err);
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
	if (r == 0 && open.last)
		r = answer_calls(st, session, &info, &open, err);
	if (r < 0)
		return r;
	event_set_text(&e, EVENT_INVOCATION, span_of(info.invocation));
	event_set_text(&e, EVENT_AUTHOR, span_of(info.agent[0] ? info.agent : "agent"));
	event_set_text(&e, EVENT_ERROR_CODE, SPAN("ABORTED"));
	event_set_text(&e, EVENT_ERROR_MESSAGE, span_of(why));
	return turn_end(st, session, n, TURN_FAILED, why, &e, &info, err);
}
