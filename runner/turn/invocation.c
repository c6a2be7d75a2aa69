/*
 * Invocations: see invocation.h.
 */
#include "runner/turn/invocation.h"

#include "runner/history/speaker.h"
#include "runner/turn/commit.h"
#include "runner/turn/resume.h"
#include "runner/turn/run.h"
#include "runner/turn/work.h"
#include "store/session/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* The message */

static int take_message(void *arg, struct span line)
{
	struct invocation *in = arg;
	CLEANUP(event_release) struct event e = { 0 };
	int r = event_from_json(line, &e, NULL);

	if (r < 0)
		return r;
	buf_span_add(&in->user_content, event_json(&e, EVENT_CONTENT));
	r = buf_check(&in->user_content, NULL);
	return r < 0 ? r : 1; /* no more lines are needed */
}

static int load_message(struct invocation *in, const struct turn_info *info, struct err *err)
{
	int r = session_lines(in->host->store,
			      (struct log_range){ in->live->ref, info->first, info->last },
			      take_message, in, err);

	return r < 0 ? r : 0;
}

/* The agent that answers */

/* Whether every agent up to the root lets the conversation stay below it. */
static bool keeps_conversation(const struct agent *agent)
{
	for (; agent->parent; agent = agent->parent) {
		if (agent->kind != AGENT_LLM || agent->no_parent)
			return false;
	}
	return agent->kind == AGENT_LLM;
}

static int accept_author(void *arg, const char *author)
{
	struct agent *root = arg;
	const struct agent *agent = agent_find(root, author);

	return agent && (agent == root || keeps_conversation(agent));
}

/* Choose the agent that answers when none is resumed. */
static int choose(struct invocation *in, const struct turn_info *info, struct agent **out,
		  struct err *err)
{
	CLEANUP(buf_release) struct buf author = { 0 };
	struct agent *root = in->tree->root;
	struct speaker_filter filter = { accept_author, root, info->invocation };
	int r;

	*out = root;
	if (root->kind != AGENT_LLM || !root->sub_count)
		return 0;
	r = speaker_last(in->host->store, in->live->ref, &filter, &author, err);
	if (r == 0 && author.len && buf_cstr(&author))
		*out = agent_find(root, author.data);
	return r;
}

/* The agents that answer: the agents that are resumed, or one agent that choose() found. */
struct answering {
	struct resumed *resumed;
	size_t count;
	struct agent *agent; /* the first of them */
};

/* Read the message, find who answers it, and mark the turn as running. */
static int begin_turn(struct invocation *in, struct answering *who, struct err *err)
{
	struct store *st = in->host->store;
	struct live *live = in->live;
	struct turn_info info;
	int r = turn_stat(st, live->ref, live->n, &info, err);

	if (r == 0)
		r = load_message(in, &info, err);
	if (r == 0)
		r = resumed_find(in, &who->resumed, &who->count, err);
	if (r == 0 && who->count)
		who->agent = who->resumed->agent;
	else if (r == 0)
		r = choose(in, &info, &who->agent, err);
	return r < 0 ? r : turn_start(st, live->ref, live->n, who->agent->name, &info, err);
}

/* The end */

/* Make the last event of a turn that failed: the broken answer, and why the turn ended. */
static void failure_event(const struct live *live, const struct failure *f, const char *text,
			  struct event *e)
{
	const char *name = f->name[0] ? f->name : "MODEL_ERROR";

	if (f->err.code == -ECANCELED)
		name = atomic_load(&live->stopping) ? "ABORTED" : "CANCELLED";
	event_set_text(e, EVENT_INVOCATION, span_of(live->invocation));
	event_set_text(e, EVENT_AUTHOR, span_of(f->agent ? f->agent : "agent"));
	if (f->branch)
		event_set_text(e, EVENT_BRANCH, span_of(f->branch));
	if (f->answer)
		event_set_content(e, f->answer);
	if (f->finish_reason)
		event_set_text(e, EVENT_FINISH_REASON, span_of(f->finish_reason));
	if (f->usage.len)
		event_set_json(e, EVENT_USAGE, buf_span(&f->usage));
	event_set_text(e, EVENT_ERROR_CODE, span_of(name));
	event_set_text(e, EVENT_ERROR_MESSAGE, span_of(text));
	if (f->err.code == -ECANCELED)
		event_set_json(e, EVENT_INTERRUPTED, SPAN("true"));
}

/* Commit the last event and the end of the turn in one transaction. */
static int commit_failure(const struct invocation_host *host, struct live *live, struct failure *f,
			  const char *text)
{
	CLEANUP(event_release) struct event e = { 0 };
	struct turn_commit last = { .events = &e, .count = 1, .end = TURN_FAILED, .error = text };
	struct turn_info info;
	struct err err = { 0 };
	int r = 0;

	failure_event(live, f, text, &e);
	if (f->changes.in)
		r = changes_write(&f->changes, &e, &last);
	if (r == 0)
		r = turn_commit(host->store, live->ref, live->n, &last, &info, &err);
	if (r < 0)
		return r;
	if (f->changes.in)
		changes_close(&f->changes, true);
	commit_show(live, host->hooks, &e, info.bytes, f->streamed);
	return 0;
}

static void finish_failed(const struct invocation_host *host, struct live *live, struct failure *f)
{
	const char *text = f->err.text;
	int r;

	if (f->err.code == -ECANCELED)
		text = atomic_load(&live->stopping) ? "the daemon was stopped"
						    : "the turn was cancelled";
	r = commit_failure(host, live, f, text);
	if (r < 0 && r != -ESTALE && f->changes.in) { /* the changes cannot be stored */
		changes_release(&f->changes);
		r = commit_failure(host, live, f, text);
	}
	changes_release(&f->changes);
	if (r < 0 && r != -ESTALE) /* the turn must end even without its event */
		(void)!turn_end(host->store, live->ref, live->n, TURN_FAILED, text, NULL);
}

/* End a turn whose agent does not load. */
static int fail_unloaded(const struct invocation_host *host, struct live *live,
			 const struct err *why)
{
	CLEANUP(failure_release) struct failure f = { .name = "AGENT_ERROR", .err = *why };
	struct turn_info info;
	int r = turn_start(host->store, live->ref, live->n, "", &info, NULL);

	if (r < 0)
		f.err.code = r;
	finish_failed(host, live, &f);
	return f.err.code ? f.err.code : -EIO;
}

int invocation_run(const struct invocation_host *host, struct live *live, struct agent_tree *tree,
		   const struct err *why)
{
	struct invocation in = { .host = host, .live = live, .tree = tree, .run_agent = run_agent };
	struct event_sink sink = { .in = &in };
	CLEANUP(failure_release) struct failure failure = { 0 };
	struct agent_run run = { .sink = &sink, .failure = &failure };
	struct answering who = { 0 };
	struct err err = { 0 };
	int r;

	if (!tree)
		return fail_unloaded(host, live, why);
	in.source = (struct stateview_source){ host->store, live->ref, host->temp, host->arg };
	sink.state = stateview_new(NULL, &in.source);
	if (!sink.state)
		return fail_unloaded(host, live, &(struct err){ -ENOMEM, "out of memory" });
	mutex_init(&sink.lock);
	r = begin_turn(&in, &who, &err);
	sink.message = buf_span(&in.user_content);
	run.agent = r < 0 ? tree->root : who.agent;
	if (r < 0)
		r = run_fail(&run, NULL, &err);
	else if (who.count)
		r = resumed_run(&sink, who.resumed, who.count, &failure);
	else
		r = run_agent(&run);
	if (r == 0)
		r = turn_end(host->store, live->ref, live->n, TURN_DONE, NULL, &failure.err);
	if (r < 0) {
		failure.err.code = r;
		finish_failed(host, live, &failure);
	}
	resumed_free(who.resumed, who.count);
	stateview_free(sink.state);
	mutex_release(&sink.lock);
	buf_release(&in.user_content);
	return r;
}
