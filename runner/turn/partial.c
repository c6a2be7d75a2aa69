/*
 * Partial events: see commit.h.
 *
 * A model sends many pieces of text: the members that their events have in common are written once.
 */
#include "runner/turn/commit.h"

#include "base/clock.h"
#include "store/json/time.h"

static void notify_progress(const struct agent_run *run)
{
	commit_notify(run->sink->in->live, run->sink->in->host->hooks);
}

static void make_partial(const struct agent_run *run, struct event *e, const char *id)
{
	run_head(run, e);
	event_set_json(e, EVENT_PARTIAL, SPAN("true"));
	event_set_text(e, EVENT_ID, span_of(id));
	event_set_time(e, clock_now());
}

void run_show_partial(struct agent_run *run, struct event *e)
{
	CLEANUP(buf_release) struct buf line = { 0 };
	char id[40];

	clock_new_id(id, "");
	make_partial(run, e, id);
	event_to_json(e, &line);
	buf_char(&line, '\n');
	live_add(run->sink->in->live, LIVE_EVENTS, buf_span(&line));
	notify_progress(run);
}

/* Write what all pieces have in common: the members before the id of an event without content. */
static void write_middle(struct agent_run *run)
{
	static const char mark[] = "\"-\"";
	CLEANUP(event_release) struct event e = { 0 };
	CLEANUP(buf_release) struct buf text = { 0 };
	const char *id = NULL;
	const char *at;

	make_partial(run, &e, "-");
	event_to_json(&e, &text);
	for (at = buf_cstr(&text); at && (at = strstr(at, mark)); at++)
		id = at;
	if (id)
		buf_add(&run->partial.middle, text.data + 1, (size_t)(id - text.data));
}

void run_show_text(struct agent_run *run, struct span text, bool thought)
{
	struct live *live = run->sink->in->live;
	struct buf *line = &run->partial.line;
	char id[40];

	if (!run->partial.middle.len)
		write_middle(run);
	clock_new_id(id, "");
	buf_clear(line);
	buf_text(line, "{\"content\":{\"parts\":[{\"text\":");
	json_quote(line, text);
	buf_text(line,
		 thought ? ",\"thought\":true}],\"role\":\"model\"}," : "}],\"role\":\"model\"},");
	buf_span_add(line, buf_span(&run->partial.middle));
	buf_text(line, id);
	buf_text(line, "\",\"timestamp\":");
	time_print(line, clock_now());
	buf_text(line, "}\n");
	if (!thought && !run->branch) { /* the texts of branches would mix */
		live_add(live, LIVE_OUTPUT, text);
		run->streamed += text.len;
	}
	live_add(live, LIVE_EVENTS, buf_span(line));
	notify_progress(run);
}

void run_end_partial(struct agent_run *run)
{
	buf_release(&run->partial.middle);
	buf_release(&run->partial.line);
}
