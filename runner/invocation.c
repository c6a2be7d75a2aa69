/*
 * An invocation: see invocation.h, and run.h for what it is made of.
 */
#include "runner/run.h"

#include "runner/select.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define TURNS_BACK 1000 /* in which the pause that an answer ends is looked for */

static struct ground ground_of_session(struct invocation *in)
{
	return (struct ground){ .in = in, .message = buf_span(&in->user_content) };
}

/* The message */

static int take_message(void *arg, struct span line)
{
	struct invocation *in = arg;
	CLEANUP(event_release) struct event e = { 0 };
	struct span value;
	int r = event_from_json(line, &e, NULL);

	if (r < 0)
		return r;
	buf_span_add(&in->user_content, event_json(&e, EVENT_CONTENT));
	value = event_json(&e, EVENT_CUSTOM_METADATA);
	if (value.len && json_member(value, "adkfs.resumes", &value) == 0)
		r = json_unquote(value, &in->resumes);
	if (r == 0)
		r = buf_check(&in->user_content, NULL);
	return r < 0 ? r : 1; /* the first line of the turn is all */
}

static int load_message(struct invocation *in, const struct turn_info *info, struct err *err)
{
	int r = session_lines(in->host->store, in->live->ref, info->first, info->last, take_message,
			      in, err);

	return r < 0 ? r : 0;
}

/* Who answers */

/* Every agent from it up to the root lets the conversation stay below it. */
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

/* What an answer from outside goes to. */
struct resumed {
	struct agent *agent; /* NULL: the message answers nothing */
	struct buf branch;
};

static int find_caller(struct invocation *in, const char *id, struct resumed *out, struct err *err)
{
	CLEANUP(buf_release) struct buf author = { 0 };
	CLEANUP(buf_release) struct buf line = { 0 };
	int r;

	buf_clear(&out->branch);
	r = select_caller(in->host->store, in->live->ref, id, &author, &out->branch, &line, err);
	if (r < 0 || !buf_cstr(&author))
		return r == -ENOENT ? 0 : r;
	out->agent = agent_find(in->tree->root, author.data);
	return 0;
}

static int find_resumed(struct invocation *in, struct resumed *out, struct err *err)
{
	CLEANUP(content_free_p) struct content *message = NULL;
	size_t i;
	int r = 0;

	if (!in->user_content.len || content_from_stored(buf_span(&in->user_content), &message) < 0)
		return 0;
	for (i = 0; r == 0 && !out->agent && i < message->count; i++) {
		if (message->parts[i].kind == PART_RESPONSE && message->parts[i].id)
			r = find_caller(in, message->parts[i].id, out, err);
	}
	return r;
}

static int choose(struct invocation *in, const struct turn_info *info, struct resumed *resumed,
		  struct agent **out, struct err *err)
{
	CLEANUP(buf_release) struct buf author = { 0 };
	struct agent *root = in->tree->root;
	int r = find_resumed(in, resumed, err);

	*out = resumed->agent ? resumed->agent : root;
	if (r < 0 || resumed->agent || root->kind != AGENT_LLM || !root->sub_count)
		return r;
	r = select_last_author(in->host->store, in->live->ref, info, accept_author, root, &author,
			       err);
	if (r == 0 && author.len && buf_cstr(&author))
		*out = agent_find(root, author.data);
	return r;
}

/* Going on after a pause */

struct place_search {
	const char *agent;
	struct span invocation;
	unsigned times_looped;
};

static int note_place(void *arg, struct span line)
{
	struct place_search *s = arg;
	CLEANUP(event_release) struct event e = { 0 };
	CLEANUP(buf_release) struct buf author = { 0 };
	CLEANUP(buf_release) struct buf invocation = { 0 };
	struct span state;
	struct span value;

	if (event_from_json(line, &e, NULL) < 0)
		return 0;
	state = event_action(&e, ACTION_AGENT_STATE);
	if (!state.len || event_text(&e, EVENT_AUTHOR, &author) < 0 ||
	    event_text(&e, EVENT_INVOCATION, &invocation) < 0 ||
	    !span_is(buf_span(&author), s->agent) ||
	    !span_equal(buf_span(&invocation), s->invocation))
		return 0;
	if (json_member(state, "times_looped", &value) == 0)
		s->times_looped = (unsigned)strtoul(value.data, NULL, 10);
	return 0;
}

/* How often a loop had gone round when it paused. */
static unsigned times_looped(struct invocation *in, const char *agent)
{
	struct place_search s = { .agent = agent, .invocation = buf_span(&in->resumes) };
	uint64_t n = in->live->n;
	uint64_t end = n > TURNS_BACK ? n - TURNS_BACK : 0;

	while (n > end) {
		struct turn_info info;

		if (turn_stat(in->host->store, in->live->ref, n--, &info, NULL) < 0 ||
		    !span_is(s.invocation, info.invocation))
			continue;
		(void)!session_lines(in->host->store, in->live->ref, info.first, info.last,
				     note_place, &s, NULL);
		break;
	}
	return s.times_looped;
}

/* The branch of what is around a branch of a parallel agent: two segments less. */
static void leave_branch(char *branch)
{
	int i;

	for (i = 0; i < 2; i++) {
		char *dot = strrchr(branch, '.');

		*(dot ? dot : branch) = '\0';
	}
}

/* The workflow agents around one that was resumed go on behind it. */
static int go_on(struct run *run, char *branch)
{
	struct invocation *in = run->ground->in;
	const struct agent *done = run->agent;
	int r = 0;

	while (r == 0 && !run->paused && done->parent) {
		struct agent *parent = done->parent;

		if (parent->kind == AGENT_PARALLEL && branch) {
			leave_branch(branch);
			run->branch = *branch ? branch : NULL;
		}
		run->agent = parent;
		if (parent->kind != AGENT_LLM)
			r = run_agent_after(run, done, times_looped(in, parent->name));
		done = parent;
	}
	return r;
}

static int run_chosen(struct invocation *in, struct ground *g, struct agent *agent,
		      struct resumed *resumed, struct failure *failure)
{
	char *branch = resumed->agent && resumed->branch.len ? buf_cstr(&resumed->branch) : NULL;
	struct run run = { .ground = g, .agent = agent, .branch = branch, .failure = failure };
	int r;

	if (!resumed->agent)
		return run_agent(&run);
	r = run_agent_after(&run, NULL, 0);
	if (r == 0 && in->resumes.len)
		r = go_on(&run, branch);
	json_decref(run.load);
	return r;
}

static int run_turn(struct invocation *in, struct ground *g, struct failure *failure)
{
	struct store *st = in->host->store;
	struct live *live = in->live;
	struct resumed resumed = { 0 };
	struct run nobody = { .ground = g, .agent = in->tree->root, .failure = failure };
	struct agent *agent = NULL;
	struct turn_info info;
	struct err err = { 0 };
	int r = turn_stat(st, live->ref, live->n, &info, &err);

	if (r == 0)
		r = load_message(in, &info, &err);
	g->message = buf_span(&in->user_content);
	if (r == 0)
		r = choose(in, &info, &resumed, &agent, &err);
	if (r == 0)
		r = turn_start(st, live->ref, live->n, agent->name, &info, &err);
	r = r < 0 ? run_fail(&nobody, NULL, &err) : run_chosen(in, g, agent, &resumed, failure);
	buf_release(&resumed.branch);
	return r;
}

/* The end */

/* The last event of a turn that failed: what the model had said, and why it ended. */
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
	if (f->said)
		event_set_content(e, f->said);
	if (f->finish_reason)
		event_set_text(e, EVENT_FINISH_REASON, span_of(f->finish_reason));
	if (f->usage.len)
		event_set_json(e, EVENT_USAGE, buf_span(&f->usage));
	event_set_text(e, EVENT_ERROR_CODE, span_of(name));
	event_set_text(e, EVENT_ERROR_MESSAGE, span_of(text));
	if (f->err.code == -ECANCELED)
		event_set_json(e, EVENT_INTERRUPTED, SPAN("true"));
}

static void finish_failed(const struct invocation_host *host, struct live *live,
			  const struct failure *f)
{
	CLEANUP(event_release) struct event e = { 0 };
	const char *text = f->err.text;
	struct turn_info info;
	struct err err = { 0 };
	int r;

	if (f->err.code == -ECANCELED)
		text = atomic_load(&live->stopping) ? "the daemon was stopped"
						    : "the turn was cancelled";
	failure_event(live, f, text, &e);
	r = turn_end(host->store, live->ref, live->n, TURN_FAILED, text, &e, &info, &err);
	if (r == 0)
		invocation_show(live, host->options, &e, f->streamed);
	else if (r != -ESTALE) /* without the event, then: the turn must not stay open */
		(void)!turn_end(host->store, live->ref, live->n, TURN_FAILED, text, NULL, NULL,
				NULL);
}

/* No agent: it does not load. */
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

static int run_and_end(struct invocation *in, struct ground *g, struct failure *failure)
{
	const struct invocation_host *host = in->host;
	struct live *live = in->live;
	int r = run_turn(in, g, failure);

	if (r == 0)
		r = turn_end(host->store, live->ref, live->n, TURN_DONE, NULL, NULL, NULL,
			     &failure->err);
	if (r < 0) {
		failure->err.code = r;
		finish_failed(host, live, failure);
	}
	return r;
}

int invocation_run(const struct invocation_host *host, struct live *live, struct agent_tree *tree,
		   const struct err *why)
{
	struct invocation in = { .host = host, .live = live, .tree = tree };
	struct ground g = ground_of_session(&in);
	CLEANUP(failure_release) struct failure failure = { 0 };
	int r;

	if (!tree)
		return fail_unloaded(host, live, why);
	in.source = (struct stateview_source){ host->store, live->ref, host->temp, host->arg };
	g.state = stateview_new(NULL, &in.source);
	if (!g.state)
		return fail_unloaded(host, live, &(struct err){ -ENOMEM, "out of memory" });
	mutex_init(&g.lock);
	r = run_and_end(&in, &g, &failure);
	stateview_free(g.state);
	mutex_release(&g.lock);
	buf_release(&in.user_content);
	buf_release(&in.resumes);
	return r;
}
