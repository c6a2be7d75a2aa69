/*
 * Programs as agents: see work.h.
 */
#include "runner/turn/work.h"

#include "base/json_merge.h"
#include "runner/history/open_calls.h"
#include "runner/turn/calls.h"
#include "runner/turn/commit.h"
#include "runner/turn/program.h"
#include "runner/turn/run.h"
#include "store/turn/text.h"

#include <errno.h>
#include <stdio.h>

struct listening {
	struct agent_run *run;
	const struct process *process;
	uint64_t line;
	struct open_calls calls; /* open calls of its events */
	int failed;              /* run->failure says why */
	struct err cut;          /* why the last, cut-off line is no event; code 0: no error */
};

/* Fail at a line. A line that was cut off is a reason only if the program ended well. */
static int line_fail(struct listening *l, const struct err *why)
{
	struct err err;

	(void)err_set(&err, -EIO, "agent %s: line %llu of its output: %s", l->run->agent->name,
		      (unsigned long long)l->line, why->text);
	if (l->process->is_cut)
		l->cut = err;
	l->failed = l->process->is_cut ? 0 : run_fail(l->run, "AGENT_ERROR", &err);
	return l->failed;
}

/* Parse a line as an event of this agent. */
static int read_event(const struct agent_run *run, struct span line, struct event *e,
		      struct err *err)
{
	CLEANUP(buf_release) struct buf json = { 0 };
	CLEANUP(buf_release) struct buf head = { 0 };
	CLEANUP(buf_release) struct buf whole = { 0 };
	int r = json_canonical_text(line, JSON_DEPTH_MAX, &json, err);

	if (r == -ENODATA)
		return err_set(err, -EINVAL, "the JSON is cut off");
	if (r == 0 && json.data[0] != '{')
		return err_set(err, -EINVAL, "an event must be an object");
	buf_text(&head, "{\"author\":");
	json_quote(&head, span_of(run->agent->name));
	buf_text(&head, ",\"branch\":null}"); /* run_head() sets the branch */
	if (r == 0)
		r = json_merge(buf_span(&json), buf_span(&head), &whole);
	return r < 0 ? r : event_from_json(buf_span(&whole), e, err);
}

/* Show an event that is not stored. */
static void show_partial(struct agent_run *run, struct event *e)
{
	CLEANUP(buf_release) struct buf text = { 0 };

	if (run->sink->nested)
		return;
	event_set_text(e, EVENT_AUTHOR, span_of(run->agent->name));
	if (!run->branch && turn_event_output(e, &text) == 0) {
		if (text.len && text.data[text.len - 1] == '\n')
			text.len--; /* the newline of the event */
		live_add(run->sink->in->live, LIVE_OUTPUT, buf_span(&text));
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
	line = span_trim_end(line);
	if (!line.len)
		return 0;
	r = read_event(l->run, line, &e, &err);
	if (r < 0)
		return line_fail(l, &err);
	if (span_is(event_json(&e, EVENT_PARTIAL), "true")) {
		show_partial(l->run, &e);
		return 0;
	}
	if (event_json(&e, EVENT_LONG_RUNNING).len)
		run_note_transferred(l->run, &e);
	l->failed = run_commit(l->run, &e, NULL, NULL, 0);
	if (l->failed == -EINVAL || l->failed == -EEXIST || l->failed == -EFBIG) {
		err = l->run->failure->err;
		failure_release(l->run->failure);
		return line_fail(l, &err);
	}
	if (l->failed == 0 && open_calls_note(&l->calls, &e) < 0)
		l->failed = run_nomem(l->run);
	return l->failed;
}

/* Commit what the program changed in its context. */
static int commit_changes(struct agent_run *run, struct changes *changes)
{
	CLEANUP(event_release) struct event e = { 0 };

	return changes_any(changes) ? run_commit(run, &e, changes, NULL, 0) : 0;
}

/* Run the program, and take its output line by line. */
static int listen_to(struct listening *l, struct context *ctx)
{
	struct agent_run *run = l->run;
	CLEANUP(buf_release) struct buf input = { 0 };
	CLEANUP(buf_release) struct buf reason = { 0 };
	const char *why;
	struct process p = { .on_line = on_line, .arg = l };
	struct err err = { 0 };
	int r;

	buf_span_add(&input, run->sink->message);
	buf_char(&input, '\n');
	p.input = buf_span(&input);
	l->process = &p;
	r = run_program(run, &run->agent->program, ctx, &p, &err);
	if (r < 0)
		r = run_fail(run, "AGENT_ERROR", &err);
	else if (l->failed)
		r = l->failed;
	else if ((why = process_reason(&p, &reason)))
		r = run_fail_text(run, "AGENT_ERROR", -EIO, "agent %s: %s", run->agent->name, why);
	else if (l->cut.code)
		r = run_fail(run, "AGENT_ERROR", &l->cut);
	process_release(&p);
	return r;
}

static int add_answers(const struct open_calls *open, struct span answer, struct content *to)
{
	size_t n;
	const struct open_event *list = open_calls_list(open, &n);
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < n; i++)
		r = open_event_answer(&list[i], answer, to);
	return r;
}

/* Answer the calls that the program left open. result: how it ended; returned unless this fails. */
static int close_calls(struct listening *l, int result)
{
	CLEANUP(content_free_p) struct content *answers = content_new("user");
	CLEANUP(event_release) struct event e = { 0 };
	struct span answer = SPAN(OPEN_CALLS_CUT_SHORT);

	if (result == 0)
		answer = SPAN("{\"error\":\"the program ended without an answer\"}");
	if (!answers || add_answers(&l->calls, answer, answers) < 0)
		return run_nomem(l->run);
	if (result < 0)
		calls_close(l->run, answers);
	if (result < 0 || !answers->count)
		return result;
	event_set_content(&e, answers);
	return run_commit(l->run, &e, NULL, NULL, 0);
}

static int run_in(struct agent_run *run, struct context *ctx)
{
	struct listening l = { .run = run };
	int r = listen_to(&l, ctx);

	if (!run->sink->nested) { /* nobody answers calls of a log in memory */
		r = close_calls(&l, r);
		run->paused |= r == 0 && open_calls_wait(&l.calls);
	}
	open_calls_release(&l.calls);
	return r;
}

int program_agent_run(struct agent_run *run)
{
	CLEANUP(changes_release) struct changes changes = { 0 };
	struct context *ctx;
	struct err err = { 0 };
	int r = changes_init(&changes, run);
	int taken;

	if (r == 0)
		r = run_open_context(run,
				     (struct context_spec){ .kind = CONTEXT_CALLBACK,
							    .name = run->agent->name,
							    .below = changes.state },
				     &ctx, &err);
	if (r < 0)
		return run_fail(run, "AGENT_ERROR", &err);
	r = run_in(run, ctx);
	taken = changes_adopt(&changes, ctx, r == 0, &err);
	if (r < 0)
		return r;
	return taken < 0 ? run_fail(run, "AGENT_ERROR", &err) : commit_changes(run, &changes);
}
