/*
 * Commits: see commit.h.
 */
#include "runner/turn/commit.h"

#include "base/clock.h"
#include "base/json_merge.h"
#include "runner/turn/run.h"
#include "store/turn/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void commit_notify(const struct live *live, const struct turn_hooks *hooks)
{
	if (hooks->progress)
		hooks->progress(hooks->arg, live->ref, live->number);
}

void run_head(const struct agent_run *run, struct event *e)
{
	event_set_text(e, EVENT_INVOCATION, span_of(run->sink->in->live->invocation));
	event_set_text(e, EVENT_AUTHOR, span_of(run->agent->name));
	if (run->branch)
		event_set_text(e, EVENT_BRANCH, span_of(run->branch));
}

static void add_before(const struct agent_run *run, struct buf *list)
{
	const struct agent *agent;
	size_t at;

	if (run->above)
		add_before(run->above, list);
	for (at = 0; at < run->transferred.len; at += sizeof agent) {
		memcpy(&agent, run->transferred.data + at, sizeof agent);
		buf_char(list, list->len ? ',' : '[');
		json_quote(list, span_of(agent->name));
	}
}

void run_note_transferred(const struct agent_run *run, struct event *e)
{
	CLEANUP(buf_release) struct buf list = { 0 };
	CLEANUP(buf_release) struct buf json = { 0 };
	CLEANUP(buf_release) struct buf whole = { 0 };
	struct span old = event_json(e, EVENT_CUSTOM_METADATA);

	add_before(run, &list);
	if (!list.len)
		return;
	buf_text(&json, "{\"adkfs.transfers\":");
	buf_span_add(&json, buf_span(&list));
	buf_text(&json, "]}");
	e->text.failed |= list.failed || json.failed ||
			  json_merge(old.len ? old : SPAN("{}"), buf_span(&json), &whole) < 0;
	event_set_json(e, EVENT_CUSTOM_METADATA, buf_span(&whole));
}

void commit_show(struct live *live, const struct turn_hooks *hooks, const struct event *e,
		 uint64_t bytes, uint64_t streamed)
{
	CLEANUP(buf_release) struct buf line = { 0 };
	CLEANUP(buf_release) struct buf text = { 0 };
	struct span fresh = SPAN("");

	event_to_json(e, &line);
	buf_char(&line, '\n');
	if (turn_event_output(e, &text) == 0 && text.len > streamed)
		fresh = span_sub(buf_span(&text), streamed, text.len);
	live_add_event(live, bytes, buf_span(&line), fresh);
	commit_notify(live, hooks);
}

int sink_add(struct event_sink *sink, struct event *e, struct changes *changes, struct err *err)
{
	char id[40];
	int r;

	clock_new_id(id, "");
	event_set_text(e, EVENT_ID, span_of(id));
	event_set_time(e, clock_now());
	r = event_check(e, err);
	if (r == 0)
		r = stateview_take(sink->state, e, err);
	if (r < 0)
		return r;
	mutex_lock(&sink->lock);
	event_to_json(e, &sink->lines);
	buf_char(&sink->lines, '\n');
	if (changes) {
		buf_span_add(&sink->saves, buf_span(&changes->saves));
		buf_span_add(&sink->contexts, buf_span(&changes->contexts));
		changes->saves.len = changes->contexts.len = 0;
	}
	r = sink->lines.failed || sink->saves.failed || sink->contexts.failed ? -ENOMEM : 0;
	mutex_unlock(&sink->lock);
	return r < 0 ? err_nomem(err) : 0;
}

static int commit_stored(struct agent_run *run, struct turn_commit *commit, struct err *err)
{
	struct invocation *in = run->sink->in;
	struct event *e = commit->events;
	struct turn_info info;
	int r = turn_commit(in->host->store, in->live->ref, in->live->n, commit, &info, err);

	if (r < 0)
		return r;
	if (e->temp_delta.len)
		r = in->host->set_temp(in->host->arg, in->live->ref, e->temp_delta, err);
	commit_show(in->live, in->host->hooks, e, info.bytes, run->streamed);
	run->streamed = 0;
	return r;
}

int run_report(struct agent_run *run, const struct call_report *reports, size_t n)
{
	struct invocation *in = run->sink->in;
	struct turn_commit commit = { .reports = reports, .report_count = n };
	struct turn_info info;
	struct err err = { 0 };
	int r = turn_commit(in->host->store, in->live->ref, in->live->n, &commit, &info, &err);

	return r < 0 ? run_fail(run, NULL, &err) : 0;
}

int run_try_commit(struct agent_run *run, struct run_event *re, struct err *err)
{
	struct event *e = re->e;
	struct changes *changes = re->changes;
	struct turn_commit commit = {
		.events = e, .count = 1, .reports = re->reports, .report_count = re->report_count
	};
	int r = changes ? changes_write(changes, e, &commit) : 0;

	run_head(run, e);
	if (r == 0)
		r = event_check(e, err);
	if (r == 0 && !run->sink->nested)
		r = commit_stored(run, &commit, err);
	else if (r == 0 && re->report_count && re->reports->kind == CALL_MODEL)
		r = run_report(run, re->reports, re->report_count);
	if (r == 0 && run->sink->nested)
		r = sink_add(run->sink, e, changes, err);
	re->bad_save = commit.bad_save;
	if (r < 0) {
		err->code = err->code ? err->code : r;
		return err->code;
	}
	if (changes)
		changes_close(changes, true);
	if (span_is(event_action(e, ACTION_ESCALATE), "true"))
		run->escalated = true;
	return 0;
}

int run_commit(struct agent_run *run, struct event *e, struct changes *changes,
	       const struct call_report *reports, size_t n)
{
	struct run_event re = { e, changes, reports, n, 0 };
	struct err err = { 0 };
	int r = run_try_commit(run, &re, &err);

	return r < 0 ? run_fail(run, NULL, &err) : 0;
}
