/*
 * Runs: see run.h.
 */
#include "runner/turn/run.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct agent_run run_below(struct agent_run *parent, struct agent *agent)
{
	return (struct agent_run){ .sink = parent->sink,
				   .agent = agent,
				   .above = parent,
				   .branch = parent->branch,
				   .depth = parent->depth,
				   .failure = parent->failure };
}

void run_join(struct agent_run *parent, const struct agent_run *child)
{
	parent->escalated |= child->escalated;
	parent->paused |= child->paused;
}

struct stateview *run_state(const struct agent_run *run)
{
	return run->waiting.in ? run->waiting.state : run->sink->state;
}

bool run_streams(const struct agent_run *run)
{
	const struct agent *agent = run->agent;

	return !run->sink->nested && !agent->callbacks[AFTER_MODEL].count && !agent->output_schema;
}

void failure_release(struct failure *f)
{
	free(f->agent);
	free(f->branch);
	free(f->finish_reason);
	content_free(f->answer);
	buf_release(&f->usage);
	changes_release(&f->changes);
	*f = (struct failure){ 0 };
}

static void set_failure(struct agent_run *run, const char *name, const struct err *err)
{
	struct failure *f = run->failure;

	if (f->err.code)
		return;
	f->err = *err;
	if (!f->err.code)
		f->err.code = -ENOMEM;
	if (!f->err.text[0])
		(void)err_errno(&f->err, f->err.code, "the turn failed");
	(void)snprintf(f->name, sizeof f->name, "%s", name ? name : "");
	f->streamed = run->streamed;
	f->agent = strdup(run->agent->name);
	f->branch = run->branch ? strdup(run->branch) : NULL;
}

int run_fail(struct agent_run *run, const char *name, const struct err *err)
{
	int code;

	mutex_lock(&run->sink->lock);
	set_failure(run, name, err);
	code = run->failure->err.code;
	mutex_unlock(&run->sink->lock);
	return code;
}

int run_fail_text(struct agent_run *run, const char *name, int code, const char *fmt, ...)
{
	struct err err = { .code = code };
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(err.text, sizeof err.text, fmt, args);
	va_end(args);
	return run_fail(run, name, &err);
}

int run_nomem(struct agent_run *run)
{
	struct err err = { 0 };

	(void)err_nomem(&err);
	return run_fail(run, NULL, &err);
}

int run_check_cancelled(struct agent_run *run)
{
	if (!cancel_fired(&run->sink->in->live->cancel))
		return 0;
	return run_fail_text(run, NULL, -ECANCELED, "cancelled");
}
