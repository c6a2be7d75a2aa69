/*
 * Programs as agents: each line they print is an event. See run.h.
 */
#include "runner/run.h"

#include "base/jsonmerge.h"

#include <errno.h>
#include <stdio.h>

struct listening {
	struct run *run;
	uint64_t line;
	int failed; /* run->failure says why */
};

static int refuse(struct listening *l, const struct err *err)
{
	l->failed = run_fail_text(l->run, "AGENT_ERROR", -EIO,
				  "agent %s: line %llu of its output: %s", l->run->agent->name,
				  (unsigned long long)l->line, err->text);
	return l->failed;
}

/* What a line says, by this agent. */
static int read_event(const struct run *run, struct span line, struct event *e, struct err *err)
{
	CLEANUP(buf_release) struct buf said = { 0 };
	CLEANUP(buf_release) struct buf head = { 0 };
	CLEANUP(buf_release) struct buf whole = { 0 };
	int r = json_canonical_text(line, JSON_DEPTH_EVENT, &said, err);

	if (r == -ENODATA)
		return err_set(err, -EINVAL, "it ends too early to be JSON");
	if (r == 0 && said.data[0] != '{')
		return err_set(err, -EINVAL, "an event is an object");
	buf_text(&head, "{\"author\":");
	json_quote(&head, span_of(run->agent->name));
	buf_text(&head, ",\"branch\":null}"); /* it gets that of the run */
	if (r == 0)
		r = json_merge(buf_span(&said), buf_span(&head), &whole);
	return r < 0 ? r : event_from_json(buf_span(&whole), e, err);
}

/* Text that is not complete yet is shown, and no more. */
static void show_partial(struct run *run, struct event *e)
{
	CLEANUP(buf_release) struct buf text = { 0 };

	if (run->ground->nested)
		return;
	event_set_text(e, EVENT_AUTHOR, span_of(run->agent->name));
	if (!run->branch && turn_event_output(e, &text) == 0) {
		if (text.len && text.data[text.len - 1] == '\n')
			text.len--; /* of the event, not of the piece */
		live_add(run->ground->in->live, LIVE_OUTPUT, buf_span(&text));
		run->streamed += text.len;
	}
	run_show_partial(run, e);
}

static int on_line(void *arg, struct span line)
{
	struct listening *l = arg;
	CLEANUP(event_release) struct event e = { 0 };
	struct err err = { 0 };
	int r;

	l->line++;
	while (line.len && strchr(" \t\r", line.data[line.len - 1]))
		line.len--;
	if (!line.len)
		return 0;
	r = read_event(l->run, line, &e, &err);
	if (r < 0)
		return refuse(l, &err);
	if (span_is(event_json(&e, EVENT_PARTIAL), "true")) {
		show_partial(l->run, &e);
		return 0;
	}
	l->failed = run_commit(l->run, &e, NULL, NULL, 0);
	if (l->failed == -EINVAL || l->failed == -EEXIST || l->failed == -EFBIG) {
		err = l->run->failure->err;
		failure_release(l->run->failure);
		return refuse(l, &err);
	}
	return l->failed;
}

/* What it changed in its context and told in no event. */
static int commit_changes(struct run *run, struct changes *changes)
{
	CLEANUP(event_release) struct event e = { 0 };

	return changes_any(changes) ? run_commit(run, &e, changes, NULL, 0) : 0;
}

static int run_in(struct run *run, struct context *ctx)
{
	struct listening l = { .run = run };
	CLEANUP(buf_release) struct buf input = { 0 };
	CLEANUP(buf_release) struct buf why = { 0 };
	struct process p = { .on_line = on_line, .arg = &l };
	struct err err = { 0 };
	int r;

	buf_span_add(&input, run->ground->message);
	buf_char(&input, '\n');
	p.input = buf_span(&input);
	r = run_program(run, &run->agent->program, ctx, &p, &err);
	if (r < 0)
		r = run_fail(run, "AGENT_ERROR", &err);
	else if (l.failed)
		r = l.failed;
	else if (process_reason(&p, &why))
		r = run_fail_text(run, "AGENT_ERROR", -EIO, "agent %s: %s", run->agent->name,
				  buf_cstr(&why) ? why.data : "it failed");
	process_release(&p);
	return r;
}

int program_agent_run(struct run *run)
{
	CLEANUP(changes_release) struct changes changes = { 0 };
	struct context *ctx;
	struct err err = { 0 };
	int r = changes_init(&changes, run);
	int taken;

	if (r == 0)
		r = run_open_context(run, CONTEXT_CALLBACK, run->agent->name, NULL, SPAN(""),
				     changes.state, &ctx, &err);
	if (r < 0)
		return run_fail(run, "AGENT_ERROR", &err);
	r = run_in(run, ctx);
	taken = changes_take(&changes, ctx, r == 0, &err);
	if (r < 0)
		return r;
	return taken < 0 ? run_fail(run, "AGENT_ERROR", &err) : commit_changes(run, &changes);
}
