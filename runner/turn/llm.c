/*
 * LlmAgents: see work.h.
 */
#include "runner/turn/work.h"

#include "base/clock.h"
#include "runner/history/open_calls.h"
#include "runner/turn/callback.h"
#include "runner/turn/calls.h"
#include "runner/turn/commit.h"
#include "runner/turn/output.h"
#include "runner/turn/prompt.h"
#include "runner/turn/reply.h"
#include "runner/turn/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define SCHEMA_TRIES 3 /* answers to ask for until one fits the schema */

/* An agent's steps. */
struct llm {
	struct agent_run *run;
	struct offer offer;
	struct history extra; /* answers that did not fit, for the next prompt only */
	unsigned tries;
	bool is_resumed; /* confirmed calls were run */
};

/* A step. */
struct step {
	struct llm *llm;
	struct prompt prompt;
	struct model_reply reply;
	bool is_passed;    /* the after_model callbacks have seen the answer */
	bool is_committed; /* an event has the answer */
};

static void llm_release(struct llm *l)
{
	history_release(&l->extra);
	offer_release(&l->offer);
	run_end_partial(l->run);
	json_decref(STEAL(&l->run->artifacts)); /* no prompt took them */
	changes_release(&l->run->waiting);
}

static void step_release(struct step *s)
{
	prompt_release(&s->prompt);
	model_reply_release(&s->reply);
}

/* Show a piece of text as it comes. */
static void on_text(void *arg, struct span text, bool thought)
{
	struct step *s = arg;
	struct agent_run *run = s->llm->run;

	if (!text.len)
		return;
	if (!run->model_call.first_nsec)
		run->model_call.first_nsec = clock_monotonic() - run->asked_at;
	if (run_streams(run))
		run_show_text(run, text, thought);
}

static void on_lull(void *arg)
{
	struct step *s = arg;
	const struct agent_run *run = s->llm->run;

	if (run_streams(run))
		live_throttle(run->sink->in->live);
}

/* Callbacks of the model */

static int before_input(void *arg, struct buf *out)
{
	struct step *s = arg;

	return prompt_to_json(&s->prompt, out);
}

static int before_take(void *arg, struct span output, struct err *err)
{
	struct step *s = arg;
	struct span request;
	int r;

	if (json_member(output, "llmRequest", &request) == 0)
		return prompt_from_json(&s->prompt, request, err);
	r = reply_from_json(&s->reply, output, err);
	return r < 0 ? r : 1;
}

static int after_input(void *arg, struct buf *out)
{
	struct step *s = arg;

	return reply_to_json(&s->reply, out);
}

static int after_take(void *arg, struct span output, struct err *err)
{
	struct step *s = arg;
	int r = reply_from_json(&s->reply, output, err);

	return r < 0 ? r : 1;
}

static int model_callbacks(struct step *s, enum callback_kind kind)
{
	struct callback_run cb = { .kind = kind,
				   .changes = &s->llm->run->waiting,
				   .input = kind == BEFORE_MODEL ? before_input : after_input,
				   .output = kind == BEFORE_MODEL ? before_take : after_take,
				   .arg = s };

	return callbacks_run(s->llm->run, &cb);
}

/* Asking */

/*
 * Keep the texts of an answer that broke off; its calls did not run. An answer that the
 * after_model callbacks have not seen is dropped: they may exist to hide it.
 */
static void keep_answer(struct step *s)
{
	struct agent_run *run = s->llm->run;
	struct model_reply *reply = &s->reply;
	struct content *texts = content_new("model");
	struct failure *f = run->failure;
	size_t i;

	if (!s->is_passed && run->agent->callbacks[AFTER_MODEL].count)
		content_free(STEAL(&reply->content));
	for (i = 0; texts && reply->content && i < reply->content->count; i++) {
		const struct part *p = &reply->content->parts[i];

		if (p->kind == PART_TEXT)
			(void)!content_add_text(texts, buf_span(&p->text), p->thought);
	}
	if (f->answer || !texts || !texts->count) {
		content_free(texts);
		texts = NULL;
	}
	if (texts)
		f->answer = texts;
	if (reply->error_code && !f->finish_reason) {
		f->finish_reason = reply->finish_reason ? strdup(reply->finish_reason) : NULL;
		buf_span_add(&f->usage, buf_span(&reply->usage));
	}
}

static int count_call(struct agent_run *run)
{
	struct invocation *in = run->sink->in;

	if (atomic_fetch_add(&in->model_calls, 1) >= in->host->calls_max)
		return run_fail_text(run, "MAX_LLM_CALLS", -EIO,
				     "the turn made too many model calls");
	atomic_fetch_add(in->host->model_calls, 1);
	return 0;
}

/* Store the report of a model call that no event has. */
static int report_call(struct agent_run *run)
{
	int r = run->model_call.started ? run_report(run, &run->model_call, 1) : 0;

	run->model_call.started = 0;
	return r;
}

/* Give an id to each call that has none, or one that it cannot keep. */
static int name_calls(struct agent_run *run, struct content *content)
{
	char id[48];
	size_t i;

	for (i = 0; content && i < content->count; i++) {
		struct part *p = &content->parts[i];

		if (p->kind != PART_CALL || model_call_keeps_id(content, i, p->id))
			continue;
		clock_new_id(id, "adk-");
		free(p->id);
		p->id = strdup(id);
		if (!p->id)
			return run_nomem(run);
	}
	return 0;
}

/* Events */

/* Note in the event which calls may answer later. */
static void note_long_running(const struct agent_run *run, const struct offer *offer,
			      const struct content *content, struct event *e)
{
	CLEANUP(buf_release) struct buf list = { 0 };
	size_t i;

	for (i = 0; i < content->count; i++) {
		const struct part *p = &content->parts[i];
		const struct tool *tool = p->kind == PART_CALL ? offer_find(offer, p->name) : NULL;

		if (!tool || !tool->long_running)
			continue;
		buf_char(&list, list.len ? ',' : '[');
		json_quote(&list, span_of(p->id));
	}
	if (!list.len)
		return;
	pending_put(e, &list);
	run_note_transferred(run, e);
}

/* Save the final answer under its key: the text, or the value that was checked. */
static int save_output(struct agent_run *run, const struct content *content, struct span value,
		       struct changes *changes)
{
	const struct agent *agent = run->agent;
	CLEANUP(buf_release) struct buf text = { 0 };
	CLEANUP(buf_release) struct buf json = { 0 };
	struct err err = { 0 };

	if (!agent->output_key || content_has(content, PART_CALL))
		return 0;
	content_text(content, &text);
	if (!text.len)
		return 0;
	if (value.len)
		buf_span_add(&json, value);
	else
		json_quote(&json, buf_span(&text));
	if (buf_check(&json, &err) < 0 ||
	    stateview_set(changes->state, span_of(agent->output_key), buf_span(&json), &err) < 0)
		return run_fail(run, NULL, &err);
	return 0;
}

/*
 * Commit the answer as an event, with what callbacks changed since the last event. value: of a
 * structured answer.
 */
static int commit_reply(struct step *s, struct span value)
{
	struct agent_run *run = s->llm->run;
	struct model_reply *reply = &s->reply;
	CLEANUP(event_release) struct event e = { 0 };
	size_t reports = run->model_call.started ? 1 : 0;
	int r = 0;

	reply_to_event(reply, &e);
	if (reply->content)
		note_long_running(run, &s->llm->offer, reply->content, &e);
	if (reply->content && !reply->error_code)
		r = save_output(run, reply->content, value, &run->waiting);
	if (r == 0)
		r = run_commit(run, &e, &run->waiting, &run->model_call, reports);
	if (r == 0)
		run->model_call.started = 0;
	changes_release(&run->waiting);
	s->is_committed = r == 0;
	return r;
}

/* The answer is empty: commit an event only if callbacks changed something. */
static int commit_silence(struct step *s)
{
	struct agent_run *run = s->llm->run;

	if (!changes_any(&run->waiting))
		return report_call(run);
	content_free(STEAL(&s->reply.content));
	return commit_reply(s, SPAN(""));
}

/* Structured answers */

/* Ask the model again, and say what is wrong with its answer. */
static int ask_again(struct step *s, const char *why)
{
	struct llm *l = s->llm;
	CLEANUP(content_free_p) struct content *note = content_new("user");
	CLEANUP(buf_release) struct buf text = { 0 };

	buf_printf(&text, "This does not fit the schema: %s. Answer with the corrected JSON only.",
		   why);
	if (!note || content_add_text(note, buf_span(&text), false) < 0 ||
	    history_add(&l->extra, STEAL(&s->reply.content)) < 0 ||
	    history_add(&l->extra, STEAL(&note)) < 0)
		return run_nomem(l->run);
	return report_call(l->run);
}

/* Check an answer against the schema. 0: *value is the answer; 1: the model is asked again. */
static int check_output(struct step *s, struct buf *value)
{
	struct agent_run *run = s->llm->run;
	CLEANUP(buf_release) struct buf text = { 0 };
	struct err err = { 0 };
	int r;

	if (!run->agent->output_schema || s->reply.error_code ||
	    content_has(s->reply.content, PART_CALL))
		return 0;
	content_text(s->reply.content, &text);
	if (!text.len)
		return 0;
	r = output_check(run->agent, buf_span(&text), value, &err);
	if (r == 0)
		return 0;
	if (r != -EINVAL)
		return run_fail(run, NULL, &err);
	if (++s->llm->tries < SCHEMA_TRIES) {
		r = ask_again(s, err.text);
		return r < 0 ? r : 1;
	}
	keep_answer(s);
	return run_fail_text(run, "OUTPUT_SCHEMA", -EIO, "the answer does not fit the schema: %s",
			     err.text);
}

/* Commit the arguments of set_model_response as the answer. */
static int commit_response(struct agent_run *run, struct span response)
{
	CLEANUP(content_free_p) struct content *content = content_new("model");
	CLEANUP(changes_release) struct changes changes = { 0 };
	CLEANUP(event_release) struct event e = { 0 };
	int r;

	if (!content || content_add_text(content, response, false) < 0 ||
	    changes_init(&changes, run) < 0)
		return run_nomem(run);
	event_set_content(&e, content);
	r = save_output(run, content, response, &changes);
	return r < 0 ? r : run_commit(run, &e, &changes, NULL, 0);
}

/* Steps */

/* Go on after the calls of an answer. 1: the agent is done, or pauses. */
static int after_calls(struct llm *l, struct calls_result *result)
{
	struct agent_run *run = l->run;
	int r;

	if (result->paused) {
		run->paused = true;
		return 1;
	}
	if (result->response.len) {
		r = commit_response(run, buf_span(&result->response));
		return r < 0 ? r : 1;
	}
	if (result->misfit && ++l->tries >= SCHEMA_TRIES)
		return run_fail_text(run, "OUTPUT_SCHEMA", -EIO,
				     "the answer does not fit the schema");
	if (result->transfer) {
		run->transfer = result->transfer;
		return 1;
	}
	return result->skipped;
}

static int run_calls(struct step *s)
{
	CLEANUP(calls_result_release) struct calls_result result = { 0 };
	struct llm *l = s->llm;
	int r = calls_run(l->run, &l->offer, s->reply.content, &result);

	return r < 0 ? r : after_calls(l, &result);
}

/* Check and commit the answer, and run its calls. 1: the agent is done. */
static int take_reply(struct step *s)
{
	struct agent_run *run = s->llm->run;
	struct model_reply *reply = &s->reply;
	CLEANUP(buf_release) struct buf value = { 0 };
	bool is_empty;
	int r = name_calls(run, reply->content);

	is_empty = !reply->content || !reply->content->count;
	if (r == 0 && is_empty && reply->error_code && reply->error_message)
		r = run_fail_text(run, reply->error_code, -EIO, "%s", reply->error_message);
	else if (r == 0 && is_empty && reply->error_code)
		r = run_fail_text(run, reply->error_code, -EIO, "the model said nothing: %s",
				  reply->error_code);
	if (r == 0 && is_empty) {
		r = commit_silence(s);
		return r < 0 ? r : 1;
	}
	if (r == 0)
		r = check_output(s, &value);
	if (r)
		return r == 1 ? 0 : r;
	r = commit_reply(s, buf_span(&value));
	if (r < 0 || !content_has(reply->content, PART_CALL))
		return r < 0 ? r : 1;
	return run_calls(s);
}

/* Make the prompt, and let the callbacks look at it. 1: one of them has answered. */
static int prepare(struct step *s)
{
	struct llm *l = s->llm;
	struct agent_run *run = l->run;
	size_t i;
	int r = prompt_build(run, &l->offer, &s->prompt);

	for (i = 0; r == 0 && i < l->extra.count; i++) {
		if (history_add(&s->prompt.history, content_copy(l->extra.contents[i])) < 0)
			r = run_nomem(run);
	}
	if (r == 0 && !run->waiting.in && changes_init(&run->waiting, run) < 0)
		r = run_nomem(run);
	return r < 0 ? r : model_callbacks(s, BEFORE_MODEL);
}

/* Ask the model. */
static int ask(struct step *s)
{
	struct agent_run *run = s->llm->run;
	struct invocation *in = run->sink->in;
	struct question rq = { .folder = in->tree->folder,
			       .settings = in->tree->settings,
			       .system = buf_cstr(&s->prompt.system),
			       .contents = s->prompt.history.contents,
			       .count = s->prompt.history.count,
			       .tools = s->prompt.tools,
			       .tool_count = s->prompt.tool_count,
			       .config = s->prompt.config };
	struct err err = { 0 };
	int r = count_call(run);

	if (r < 0)
		return r;
	if (!rq.system)
		return run_nomem(run);
	run->model_call = (struct call_report){ .kind = CALL_MODEL,
						.model = run->agent->model,
						.agent = run->agent->name,
						.started = clock_now() };
	run->asked_at = clock_monotonic();
	run->streamed = 0;
	r = model_ask(s->prompt.model, &rq, &in->live->cancel, &s->reply, &err);
	run->model_call.nsec = clock_monotonic() - run->asked_at;
	run->model_call.usage = buf_span(&s->reply.usage);
	return r < 0 ? run_fail(run, NULL, &err) : 0;
}

/* The step failed before an event had the answer: keep its texts and its report. */
static void keep_failed(struct step *s)
{
	struct agent_run *run = s->llm->run;

	keep_answer(s);
	run->model_call.usage = buf_span(&run->failure->usage);
	if (run->model_call.started)
		(void)!run_report(run, &run->model_call, 1); /* the turn fails in any case */
	run->model_call.started = 0;
}

/* Run the calls that the newest message confirms first. 1: the agent is done. */
static int confirmed(struct llm *l)
{
	CLEANUP(calls_result_release) struct calls_result result = { 0 };
	int r;

	if (l->is_resumed || l->run->sink->nested)
		return 0;
	l->is_resumed = true;
	r = calls_confirmed(l->run, &l->offer, &result);
	return r == 1 ? after_calls(l, &result) : r;
}

/* Leave what callbacks changed to the event of the failure. */
static void leave_changes(struct agent_run *run)
{
	if (!run->waiting.in || run->sink->nested || !changes_any(&run->waiting))
		return;
	changes_release(&run->failure->changes);
	run->failure->changes = run->waiting;
	run->waiting = (struct changes){ 0 };
}

int llm_run(struct agent_run *run)
{
	CLEANUP(llm_release) struct llm l = { .run = run };
	int r = 0;

	while (r == 0) {
		CLEANUP(step_release)
		struct step s = { .llm = &l,
				  .reply = { .on_text = on_text, .on_lull = on_lull, .arg = &s } };

		r = run_check_cancelled(run);
		offer_release(&l.offer);
		if (r == 0)
			r = offer_make(run, &l.offer);
		if (r == 0)
			r = confirmed(&l);
		if (r) /* an error, or the agent is done */
			break;
		r = prepare(&s);
		if (r == 0)
			r = ask(&s);
		if (r >= 0)
			r = model_callbacks(&s, AFTER_MODEL);
		s.is_passed = r >= 0;
		if (r >= 0)
			r = take_reply(&s);
		if (r < 0 && !s.is_committed)
			keep_failed(&s);
	}
	if (r < 0)
		leave_changes(run);
	return r < 0 ? r : 0;
}
