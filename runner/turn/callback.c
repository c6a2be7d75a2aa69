/*
 * Callbacks: see callback.h.
 */
#include "runner/turn/callback.h"

#include "base/json_text.h"
#include "base/name.h"
#include "runner/turn/call.h"
#include "runner/turn/run.h"

#include <errno.h>
#include <stdio.h>

static const char *const kind_names[CALLBACK_KINDS] = {
	[BEFORE_AGENT] = "before_agent", [AFTER_AGENT] = "after_agent",
	[BEFORE_MODEL] = "before_model", [AFTER_MODEL] = "after_model",
	[BEFORE_TOOL] = "before_tool",   [AFTER_TOOL] = "after_tool",
};

/* Fail the turn: a callback may be a guard, which must not be skipped because it crashed. */
static int fail(struct agent_run *run, enum callback_kind kind, const struct program *program,
		const char *why)
{
	const char *name = program->path + strlen(run->sink->in->tree->folder);

	return run_fail_text(run, "CALLBACK_ERROR", -EIO, "%s callback %s: %s", kind_names[kind],
			     name + (*name == '/'), why);
}

/* Parse the output of a callback to canonical JSON; empty: it printed nothing. */
static int read_output(struct agent_run *run, enum callback_kind kind,
		       const struct program *program, const struct process *p, struct buf *json)
{
	CLEANUP(buf_release) struct buf reason = { 0 };
	const char *why = process_reason(p, &reason);
	struct err err = { 0 };
	struct span text = buf_span(&p->output);
	int r;

	if (why)
		return fail(run, kind, program, why);
	text = span_trim_end(text);
	if (!text.len)
		return 0;
	r = json_canonical_text(text, JSON_DEPTH_FREE, json, &err);
	if (r < 0) {
		(void)err_wrap(&err, "its output is not JSON");
		return fail(run, kind, program, err.text);
	}
	return json->data[0] == '{' ? 0 : fail(run, kind, program, "its output is not an object");
}

static int run_one(struct agent_run *run, struct callback_run *cb, const struct program *program,
		   struct context *ctx, struct span input, struct buf *output)
{
	struct process p = { .input = input };
	struct err err = { 0 };
	int r = run_program(run, program, ctx, &p, &err);

	if (r < 0)
		r = run_fail(run, "CALLBACK_ERROR", &err);
	else
		r = read_output(run, cb->kind, program, &p, output);
	process_release(&p);
	return r;
}

/* Run a callback in a context of its own, and adopt the changes if it succeeded. */
static int run_in_own(struct agent_run *run, struct callback_run *cb, const struct program *program,
		      struct span input, struct buf *output)
{
	struct context *ctx;
	struct err err = { 0 };
	struct context_spec spec = { .kind = CONTEXT_CALLBACK,
				     .name = kind_names[cb->kind],
				     .below = cb->changes->state };
	int adopted;
	int r = run_open_context(run, cb->call ? call_context(cb->call) : spec, &ctx, &err);

	if (r < 0)
		return run_fail(run, "CALLBACK_ERROR", &err);
	r = run_one(run, cb, program, ctx, input, output);
	adopted = changes_adopt(cb->changes, ctx, r == 0, &err);
	return r < 0 || adopted == 0 ? r : run_fail(run, "CALLBACK_ERROR", &err);
}

int callbacks_run(struct agent_run *run, struct callback_run *cb)
{
	const struct callbacks *list = &run->agent->callbacks[cb->kind];
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < list->count; i++) {
		CLEANUP(buf_release) struct buf input = { 0 };
		CLEANUP(buf_release) struct buf output = { 0 };
		struct err err = { 0 };

		r = run_check_cancelled(run);
		if (r == 0 && cb->input(cb->arg, &input) < 0)
			r = run_nomem(run);
		buf_char(&input, '\n');
		if (r == 0)
			r = run_in_own(run, cb, &list->list[i], buf_span(&input), &output);
		if (r < 0 || !output.len)
			continue;
		r = cb->output(cb->arg, buf_span(&output), &err);
		if (r < 0)
			r = fail(run, cb->kind, &list->list[i], err.text);
	}
	return r;
}
