/*
 * The texts of turns: see text.h.
 */
#include "store/turn/text.h"

#include "store/session/log.h"

#include <errno.h>
#include <stdlib.h>

int turn_content(const struct event *e, struct content **out)
{
	struct span json = event_json(e, EVENT_CONTENT);

	return json.len ? content_from_stored(json, out) : 0;
}

int turn_event_input(const struct event *e, struct buf *out)
{
	CLEANUP(content_free_p) struct content *content = NULL;
	int r = turn_content(e, &content);

	if (content)
		content_text(content, out);
	return r < 0 ? r : buf_check(out, NULL);
}

int turn_answer_text(const struct event *e, const struct content *content, struct buf *out)
{
	size_t from = out->len;

	if (!content || span_is(event_json(e, EVENT_AUTHOR), "\"user\""))
		return 0;
	content_text(content, out);
	if (out->len > from && out->data[out->len - 1] != '\n')
		buf_char(out, '\n');
	return buf_check(out, NULL);
}

int turn_event_output(const struct event *e, struct buf *out)
{
	CLEANUP(content_free_p) struct content *content = NULL;
	int r = turn_content(e, &content);

	return r < 0 ? r : turn_answer_text(e, content, out);
}

struct pass {
	const struct turn_info *info;
	struct buf *out;
	int (*take)(const struct event *e, struct span line, struct buf *out);
};

int turn_own_line(const struct turn_info *info, struct span line, struct event *e)
{
	CLEANUP(buf_release) struct buf invocation = { 0 };
	int r;

	/* A cheap test first. */
	if (!memmem(line.data, line.len, info->invocation, strlen(info->invocation)))
		return 0;
	r = event_from_json(line, e, NULL);
	if (r == 0)
		r = event_text(e, EVENT_INVOCATION, &invocation);
	if (r < 0)
		return -EIO;
	return span_is(buf_span(&invocation), info->invocation);
}

static int pass_line(void *arg, struct span line)
{
	struct pass *p = arg;
	CLEANUP(event_release) struct event e = { 0 };
	int r = turn_own_line(p->info, line, &e);

	return r == 1 ? p->take(&e, line, p->out) : r;
}

static int run_pass(struct store *st, struct ref session, struct pass *p, struct err *err)
{
	struct log_range range = { session, p->info->first, p->info->last };
	int r = session_lines(st, range, pass_line, p, err);

	return r < 0 ? r : buf_check(p->out, err);
}

static int take_input(const struct event *e, struct span line, struct buf *out)
{
	int r = turn_event_input(e, out);

	(void)line;
	return r < 0 ? r : 1; /* the first line of a turn is its message */
}

static int take_output(const struct event *e, struct span line, struct buf *out)
{
	(void)line;
	return turn_event_output(e, out);
}

static int take_line(const struct event *e, struct span line, struct buf *out)
{
	(void)e;
	buf_span_add(out, line);
	buf_char(out, '\n');
	return 0;
}

int turn_input(struct store *st, struct ref session, const struct turn_info *info, struct buf *out,
	       struct err *err)
{
	struct pass p = { info, out, take_input };

	return run_pass(st, session, &p, err);
}

int turn_output(struct store *st, struct ref session, const struct turn_info *info, struct buf *out,
		struct err *err)
{
	struct pass p = { info, out, take_output };

	return run_pass(st, session, &p, err);
}

int turn_events(struct store *st, struct ref session, const struct turn_info *info, struct buf *out,
		struct err *err)
{
	struct pass p = { info, out, take_line };

	return run_pass(st, session, &p, err);
}
