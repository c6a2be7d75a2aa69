/*
 * An invocation: see invocation.h.
 *
 * An LlmAgent repeats steps - ask the model, store its answer, run the tools
 * it called, store their answers - until an answer calls none. Every event is
 * committed before the next thing happens, and shown live after that.
 */
#include "runner/invocation.h"

#include "base/clock.h"
#include "base/name.h"
#include "runner/history.h"
#include "runner/instruction.h"
#include "runner/model.h"
#include "runner/tool.h"
#include "store/artifact.h"
#include "store/call.h"
#include "store/state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ARTIFACT_TEXT_MAX (4u << 20) /* of an artifact that an instruction includes */

struct invocation {
	const struct invocation_host *host;
	struct live *live;
	struct agent *agent;
	struct turn_info info;
	unsigned calls;           /* of the model */
	const char *code;         /* errorCode of a failure; NULL: MODEL_ERROR */
	uint64_t answer_from;     /* where the running answer began in the live output */
	struct call_report asked; /* the latest model call; started 0: it was told of */
	uint64_t asked_at;        /* monotonic */
};

static int fail(struct invocation *in, const char *code, struct err *err, const char *text)
{
	in->code = code;
	return text ? err_set(err, -EIO, "%s", text) : err->code;
}

static void tell_progress(struct invocation *in)
{
	const struct runner_options *o = in->host->options;

	if (o->progress)
		o->progress(o->arg, in->live->ref, in->live->number);
}

static void head_of_event(struct invocation *in, struct event *e)
{
	const char *author = in->agent ? in->agent->name : "agent";

	event_set_text(e, EVENT_INVOCATION, span_of(in->live->invocation));
	event_set_text(e, EVENT_AUTHOR, span_of(author));
}

/* The event's line into the live stream, and the rest of its text into the output. */
static void show_event(struct invocation *in, const struct event *e)
{
	CLEANUP(buf_release) struct buf line = { 0 };
	CLEANUP(buf_release) struct buf text = { 0 };
	uint64_t shown = live_size(in->live, LIVE_OUTPUT) - in->answer_from;

	event_to_json(e, &line);
	buf_char(&line, '\n');
	live_add(in->live, LIVE_EVENTS, buf_span(&line));
	if (turn_event_output(e, &text) == 0 && text.len > shown)
		live_add(in->live, LIVE_OUTPUT, span_sub(buf_span(&text), shown, text.len));
	in->answer_from = live_size(in->live, LIVE_OUTPUT);
	tell_progress(in);
}

/* Commit an event of the turn with what there is to report of calls, then show it. */
static int commit_event(struct invocation *in, struct event *e, const struct call_report *reports,
			size_t n, struct err *err)
{
	int r = event_check(e, err);

	if (r == 0)
		r = turn_report(in->host->store, in->live->ref, in->live->n, e, 1, reports, n,
				&in->info, err);
	if (r == 0)
		show_event(in, e);
	return r;
}

/* Reports of calls that no event tells of. */
static int commit_reports(struct invocation *in, const struct call_report *reports, size_t n,
			  struct err *err)
{
	return turn_report(in->host->store, in->live->ref, in->live->n, NULL, 0, reports, n,
			   &in->info, err);
}

/* A piece of text as it comes: live only. */
static void on_text(void *arg, struct span text, bool thought)
{
	struct invocation *in = arg;
	CLEANUP(event_release) struct event e = { 0 };
	CLEANUP(buf_release) struct buf json = { 0 };
	char id[40];

	if (!text.len)
		return;
	if (!in->asked.first_nsec)
		in->asked.first_nsec = clock_monotonic() - in->asked_at;
	clock_new_id(id, "");
	buf_text(&json, "{\"parts\":[{\"text\":");
	json_quote(&json, text);
	buf_text(&json,
		 thought ? ",\"thought\":true}],\"role\":\"model\"}" : "}],\"role\":\"model\"}");
	head_of_event(in, &e);
	event_set_json(&e, EVENT_CONTENT, buf_span(&json));
	event_set_json(&e, EVENT_PARTIAL, SPAN("true"));
	event_set_text(&e, EVENT_ID, span_of(id));
	event_set_time(&e, clock_now());
	buf_clear(&json);
	event_to_json(&e, &json);
	buf_char(&json, '\n');
	live_add(in->live, LIVE_EVENTS, buf_span(&json));
	if (!thought)
		live_add(in->live, LIVE_OUTPUT, text);
	tell_progress(in);
}

static int find_state(void *arg, struct span key, struct buf *json, struct err *err)
{
	struct invocation *in = arg;
	struct ref scope = in->live->ref;
	CLEANUP(buf_release) struct buf text = { 0 };
	struct span bare;
	enum scope_kind kind = statekey_scope(key, &bare);
	int r;

	if (kind == SCOPE_TEMP)
		return in->host->temp(in->host->arg, scope, key, json);
	if (kind != SCOPE_SESSION)
		scope.session = 0;
	if (kind == SCOPE_APP)
		scope.user = 0;
	r = state_get(in->host->store, scope, bare, &text, NULL, NULL);
	if (r < 0)
		return r == -ENOENT ? r : err_set(err, r, "the state cannot be read");
	return json_canonical_text(buf_span(&text), JSON_DEPTH_FREE, json, err);
}

static int read_latest(struct store *st, const struct artifact_info *info, struct buf *text,
		       struct err *err)
{
	CLEANUP(blob_close) struct blob blob;
	int r;

	if (info->size > ARTIFACT_TEXT_MAX)
		return -EILSEQ;
	blob_init(&blob, st);
	r = artifact_blob(st, info->history, info->latest, &blob, NULL, err);
	return r < 0 ? r : blob_read(&blob, 0, info->size, text, err);
}

static int find_artifact_text(void *arg, struct span name, struct buf *text, struct err *err)
{
	struct invocation *in = arg;
	struct store *st = in->host->store;
	struct ref scope = in->live->ref;
	CLEANUP(buf_release) struct buf full_name = { 0 };
	struct artifact_info info;
	int r;

	if (name.len > 5 && !memcmp(name.data, "user:", 5)) {
		scope.session = 0;
		name = span_sub(name, 5, name.len);
	}
	buf_span_add(&full_name, name);
	if (!buf_cstr(&full_name))
		return err_nomem(err);
	r = artifact_resolve(st, scope, full_name.data, NULL, &info, NULL);
	if (r == 0 && !info.latest)
		r = -ENOENT;
	if (r == 0)
		r = read_latest(st, &info, text, err);
	if (r < 0)
		return r;
	return name_is_utf8(buf_span(text)) && !memchr(text->data ? text->data : "", 0, text->len)
		       ? 0
		       : -EILSEQ;
}

static void add_block(struct buf *out, struct span block)
{
	if (!block.len)
		return;
	if (out->len)
		buf_text(out, "\n\n");
	buf_span_add(out, block);
}

/* The texts of a content, a line break between them. */
static void add_texts(const struct content *content, struct buf *out)
{
	size_t i;

	for (i = 0; i < content->count; i++) {
		if (out->len)
			buf_char(out, '\n');
		buf_span_add(out, buf_span(&content->parts[i].text));
	}
}

/* The system instruction: what the agent is told, and who it is. */
static int build_instruction(struct invocation *in, struct buf *out, struct err *err)
{
	struct instruction_source source = { find_state, find_artifact_text, in };
	const struct agent *agent = in->agent;
	CLEANUP(buf_release) struct buf text = { 0 };
	int r = 0;

	if (agent->static_instruction)
		add_texts(agent->static_instruction, &text);
	else
		r = instruction_render(span_of(agent->instruction), &source, &text, err);
	if (r < 0)
		return fail(in, "TEMPLATE_ERROR", err, NULL);
	add_block(out, buf_span(&text));
	buf_clear(&text);
	buf_printf(&text, "You are an agent. Your internal name is \"%s\".", agent->name);
	if (agent->description && *agent->description)
		buf_printf(&text, " The description about you is \"%s\".", agent->description);
	add_block(out, buf_span(&text));
	return buf_check(out, err);
}

/* With a static instruction the templated one is told by the user, before the newest words. */
static int add_instruction_content(struct invocation *in, struct history *h, struct err *err)
{
	struct instruction_source source = { find_state, find_artifact_text, in };
	CLEANUP(content_free_p) struct content *content = content_new("user");
	CLEANUP(buf_release) struct buf text = { 0 };
	struct content **list;
	size_t at = h->count;
	int r;

	if (!in->agent->static_instruction || !in->agent->instruction)
		return 0;
	r = instruction_render(span_of(in->agent->instruction), &source, &text, err);
	if (r < 0)
		return fail(in, "TEMPLATE_ERROR", err, NULL);
	if (!text.len)
		return 0;
	while (at && h->contents[at - 1]->role && !strcmp(h->contents[at - 1]->role, "user") &&
	       !content_has(h->contents[at - 1], PART_RESPONSE))
		at--;
	list = realloc(h->contents, (h->count + 1) * sizeof(struct content *));
	if (!content || !list || content_add_text(content, buf_span(&text), false) < 0)
		return err_nomem(err);
	h->contents = list;
	memmove(list + at + 1, list + at, (h->count - at) * sizeof(struct content *));
	list[at] = STEAL(&content);
	h->count++;
	return 0;
}

static struct model_tool *model_tools(const struct agent *agent, size_t *n)
{
	struct model_tool *tools = calloc(agent->tool_count + 1, sizeof *tools);
	size_t i;

	*n = 0;
	for (i = 0; tools && i < agent->tool_count; i++) {
		if (agent->tools[i].kind != TOOL_PROGRAM)
			continue;
		tools[*n].name = agent->tools[i].name;
		tools[*n].description = agent->tools[i].description;
		tools[(*n)++].parameters = agent->tools[i].parameters;
	}
	return tools;
}

/* Ask, and note how long it took. */
static int ask_model(struct invocation *in, struct model_request *rq, struct model_reply *reply,
		     struct err *err)
{
	int r;

	in->asked = (struct call_report){ .kind = CALL_MODEL,
					  .model = in->agent->model,
					  .agent = in->agent->name,
					  .started = clock_now() };
	in->asked_at = clock_monotonic();
	r = model_ask(in->agent->model, rq, &in->live->cancel, reply, err);
	in->asked.nsec = clock_monotonic() - in->asked_at;
	in->asked.usage = buf_span(&reply->usage);
	return r;
}

/* Ask the model with all that it should see. */
static int ask(struct invocation *in, struct model_reply *reply, struct err *err)
{
	CLEANUP(history_release) struct history history = { 0 };
	CLEANUP(buf_release) struct buf system = { 0 };
	struct model_tool *tools = NULL;
	struct model_request rq = { .folder = in->agent->tree->folder,
				    .settings = in->agent->tree->settings,
				    .config = in->agent->config };
	struct history_query query = { .store = in->host->store,
				       .session = in->live->ref,
				       .agent = in->agent->name,
				       .only_present = in->agent->no_history,
				       .n = in->live->n };
	unsigned limit = in->host->options->calls_max;
	int r = build_instruction(in, &system, err);

	if (r == 0)
		r = history_build(&query, &history, err);
	if (r == 0)
		r = add_instruction_content(in, &history, err);
	if (r < 0)
		return r;
	if (in->calls++ >= (limit ? limit : RUNNER_CALLS_MAX))
		return fail(in, "MAX_LLM_CALLS", err, "the turn made too many model calls");
	tools = model_tools(in->agent, &rq.tool_count);
	if (!tools || !buf_cstr(&system)) {
		free(tools);
		return err_nomem(err);
	}
	rq.system = system.data;
	rq.contents = history.contents;
	rq.count = history.count;
	rq.tools = tools;
	atomic_fetch_add(in->host->model_calls, 1);
	in->answer_from = live_size(in->live, LIVE_OUTPUT);
	r = ask_model(in, &rq, reply, err);
	free(tools);
	return r;
}

/* Calls without an id get one of ours. */
static int name_calls(struct content *content, struct err *err)
{
	char id[48];
	size_t i;

	for (i = 0; i < content->count; i++) {
		struct part *p = &content->parts[i];

		if (p->kind != PART_CALL || (p->id && *p->id))
			continue;
		clock_new_id(id, "adk-");
		free(p->id);
		p->id = strdup(id);
		if (!p->id)
			return err_nomem(err);
	}
	return 0;
}

/* Which of the calls may answer later. */
static void list_long_running(struct invocation *in, const struct content *content, struct event *e)
{
	CLEANUP(buf_release) struct buf list = { 0 };
	size_t i;

	for (i = 0; i < content->count; i++) {
		const struct part *p = &content->parts[i];
		const struct tool *tool = p->kind == PART_CALL ? agent_tool(in->agent, p->name)
							       : NULL;

		if (!tool || !tool->long_running)
			continue;
		buf_char(&list, list.len ? ',' : '[');
		json_quote(&list, span_of(p->id));
	}
	if (!list.len)
		return;
	buf_char(&list, ']');
	e->text.failed |= list.failed;
	event_set_json(e, EVENT_LONG_RUNNING, buf_span(&list));
}

static void save_output_key(struct invocation *in, const struct content *content, struct event *e)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	CLEANUP(buf_release) struct buf json = { 0 };

	if (!in->agent->output_key || content_has(content, PART_CALL))
		return;
	content_text(content, &text);
	if (!text.len)
		return;
	json_quote(&json, buf_span(&text));
	e->text.failed |= json.failed;
	event_set_state(e, in->agent->output_key, buf_span(&json));
}

static void set_if(struct event *e, enum event_member which, const char *text)
{
	if (text)
		event_set_text(e, which, span_of(text));
}

/* What the model said as an event, committed. */
static int commit_reply(struct invocation *in, struct model_reply *reply, struct err *err)
{
	CLEANUP(event_release) struct event e = { 0 };
	int r;

	head_of_event(in, &e);
	set_if(&e, EVENT_MODEL_VERSION, reply->model_version);
	set_if(&e, EVENT_FINISH_REASON, reply->finish_reason);
	set_if(&e, EVENT_ERROR_CODE, reply->error_code);
	set_if(&e, EVENT_ERROR_MESSAGE, reply->error_message);
	if (reply->usage.len)
		event_set_json(&e, EVENT_USAGE, buf_span(&reply->usage));
	if (reply->content && reply->content->count) {
		event_set_content(&e, reply->content);
		list_long_running(in, reply->content, &e);
		if (!reply->error_code)
			save_output_key(in, reply->content, &e);
	}
	r = commit_event(in, &e, &in->asked, 1, err);
	if (r == 0)
		in->asked.started = 0;
	return r;
}

static int add_variable(struct buf *list, struct span value, const char *name)
{
	char *text = NULL;

	if (asprintf(&text, "%s=%.*s", name, (int)value.len, value.data) < 0)
		return -ENOMEM;
	buf_add(list, &text, sizeof text);
	return list->failed ? -ENOMEM : 0;
}

static void free_environment(struct buf *list)
{
	size_t i;

	for (i = 0; i < list->len; i += sizeof(char *)) {
		char *text;

		memcpy(&text, list->data + i, sizeof text);
		free(text);
	}
	buf_release(list);
}

/* What programs are told of where they are. */
static int build_environment(struct invocation *in, struct buf *list, struct err *err)
{
	const struct runner_options *o = in->host->options;
	CLEANUP(buf_release) struct buf path = { 0 };
	struct ref ref = in->live->ref;
	struct scope_info session;
	struct scope_info user;
	struct scope_info app;
	char *end = NULL;
	int r = scope_stat(in->host->store, ref, &session, err);

	ref.session = 0;
	if (r == 0)
		r = scope_stat(in->host->store, ref, &user, err);
	ref.user = 0;
	if (r == 0)
		r = scope_stat(in->host->store, ref, &app, err);
	if (r == 0)
		r = add_variable(list, span_of(session.id), "ADK_SESSION_ID");
	if (r == 0)
		r = add_variable(list, span_of(user.id), "ADK_USER_ID");
	if (r == 0)
		r = add_variable(list, span_of(app.id), "ADK_APP_NAME");
	if (r == 0)
		r = add_variable(list, span_of(in->live->invocation), "ADK_INVOCATION_ID");
	if (r == 0 && o->session_path)
		r = o->session_path(o->arg, in->live->ref, &path);
	if (r == 0 && path.len)
		r = add_variable(list, buf_span(&path), "ADKFS_SESSION");
	buf_add(list, &end, sizeof end);
	return r < 0 ? r : buf_check(list, err);
}

/* What programs did besides answering. */
static struct call_report *report_tools(const struct tool_call *calls, size_t n)
{
	struct call_report *reports = calloc(n, sizeof *reports);
	size_t i;

	for (i = 0; reports && i < n; i++) {
		reports[i].kind = CALL_TOOL;
		reports[i].id = calls[i].id;
		reports[i].nsec = calls[i].nsec;
		reports[i].stderr_text = buf_span(&calls[i].stderr_text);
	}
	return reports;
}

/* One event with the answers to all calls, in their order. */
static int commit_answers(struct invocation *in, const struct tool_call *calls, size_t n,
			  const struct call_report *reports, struct err *err)
{
	size_t report_count = reports ? n : 0;
	CLEANUP(content_free_p) struct content *content = content_new("user");
	CLEANUP(event_release) struct event e = { 0 };
	size_t i;
	int r = 0;

	if (!content)
		return err_nomem(err);
	for (i = 0; r == 0 && i < n; i++) {
		if (calls[i].response.len)
			r = content_add_function(content, PART_RESPONSE, calls[i].id, calls[i].name,
						 buf_span(&calls[i].response));
	}
	if (r < 0)
		return err_nomem(err);
	if (!content->count)
		return commit_reports(in, reports, report_count, err);
	head_of_event(in, &e);
	event_set_content(&e, content);
	return commit_event(in, &e, reports, report_count, err);
}

static int commit_calls(struct invocation *in, const struct tool_call *calls, size_t n,
			struct err *err)
{
	struct call_report *reports = report_tools(calls, n);
	int r = reports ? commit_answers(in, calls, n, reports, err) : err_nomem(err);

	free(reports);
	return r;
}

/* The turn ends between call and answer: the log gets an answer all the same. */
static void close_calls(struct invocation *in, struct tool_call *calls, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		buf_clear(&calls[i].response);
		buf_text(&calls[i].response, "{\"error\":\"the turn ended before the tool did\"}");
	}
	(void)!commit_answers(in, calls, n, NULL,
			      NULL); /* the turn fails already, for a better reason */
}

/* Run what the model called. 1: the agent pauses, nothing more to ask. */
static int run_calls(struct invocation *in, const struct content *content, struct err *err)
{
	CLEANUP(free_environment) struct buf env = { 0 };
	struct tool_call *calls = calloc(content->count, sizeof *calls);
	bool pauses = false;
	size_t n = 0;
	size_t i;
	int r;

	if (!calls)
		return err_nomem(err);
	for (i = 0; i < content->count; i++) {
		const struct part *p = &content->parts[i];

		if (p->kind != PART_CALL)
			continue;
		calls[n].id = p->id;
		calls[n].name = p->name;
		calls[n++].args = span_of(p->json);
	}
	atomic_fetch_add(in->host->tool_calls, n);
	r = build_environment(in, &env, err);
	if (r == 0)
		r = tool_run_all(in->agent, (char *const *)(void *)env.data, calls, n,
				 &in->live->cancel, err);
	if (r == 0)
		r = commit_calls(in, calls, n, err);
	else
		close_calls(in, calls, n);
	for (i = 0; i < n; i++) {
		pauses |= !calls[i].response.len;
		tool_call_release(&calls[i]);
	}
	free(calls);
	return r < 0 ? r : pauses;
}

/* A model call of which no event tells. */
static int tell_asked(struct invocation *in, struct err *err)
{
	int r = in->asked.started ? commit_reports(in, &in->asked, 1, err) : 0;

	in->asked.started = 0;
	return r;
}

/* One step. 1: the turn is done. */
static int step(struct invocation *in, struct model_reply *reply, struct err *err)
{
	bool said;
	int r = ask(in, reply, err);

	if (r == 0 && reply->content)
		r = name_calls(reply->content, err);
	if (r < 0)
		return r;
	said = reply->content && reply->content->count;
	if (!said && !reply->error_code)
		return tell_asked(in, err) < 0 ? err->code : 1;
	if (!said)
		return fail(in, reply->error_code, err,
			    reply->error_message ? reply->error_message : reply->error_code);
	r = commit_reply(in, reply, err);
	if (r < 0 || !content_has(reply->content, PART_CALL))
		return r < 0 ? r : 1;
	return run_calls(in, reply->content, err);
}

/*
 * The last event of a turn that failed: what the model had said, and why it
 * ended. Calls of an answer that broke off are left out: none of them ran.
 */
static void failure_event(struct invocation *in, const struct model_reply *reply, int code,
			  const char *text, struct event *e)
{
	bool stopped = atomic_load(&in->live->stopping);
	const char *name = in->code ? in->code : "MODEL_ERROR";
	CLEANUP(content_free_p) struct content *kept = content_new("model");
	size_t i;

	if (code == -ECANCELED)
		name = stopped ? "ABORTED" : "CANCELLED";
	head_of_event(in, e);
	for (i = 0; kept && reply->content && i < reply->content->count; i++) {
		const struct part *p = &reply->content->parts[i];

		if (p->kind == PART_TEXT &&
		    content_add_text(kept, buf_span(&p->text), p->thought) < 0)
			e->text.failed = true;
	}
	if (kept && kept->count)
		event_set_content(e, kept);
	if (reply->error_code) {
		set_if(e, EVENT_FINISH_REASON, reply->finish_reason);
		if (reply->usage.len)
			event_set_json(e, EVENT_USAGE, buf_span(&reply->usage));
	}
	event_set_text(e, EVENT_ERROR_CODE, span_of(name));
	event_set_text(e, EVENT_ERROR_MESSAGE, span_of(text));
	if (code == -ECANCELED)
		event_set_json(e, EVENT_INTERRUPTED, SPAN("true"));
}

static void finish_failed(struct invocation *in, const struct model_reply *reply, struct err *why)
{
	struct store *st = in->host->store;
	struct live *live = in->live;
	CLEANUP(event_release) struct event e = { 0 };
	const char *text = why->text;
	struct err err = { 0 };
	int r;

	if (why->code == -ECANCELED)
		text = atomic_load(&live->stopping) ? "the daemon was stopped"
						    : "the turn was cancelled";
	failure_event(in, reply, why->code, text, &e);
	(void)!tell_asked(in, NULL); /* the turn fails in any case */
	r = turn_end(st, live->ref, live->n, TURN_FAILED, text, &e, &in->info, &err);
	if (r == 0)
		show_event(in, &e);
	else if (r != -ESTALE) /* without the event, then: the turn must not stay open */
		(void)!turn_end(st, live->ref, live->n, TURN_FAILED, text, NULL, NULL, NULL);
}

static int run_agent(struct invocation *in, struct model_reply *reply, struct err *err)
{
	int r = turn_start(in->host->store, in->live->ref, in->live->n,
			   in->agent ? in->agent->name : "", &in->info, err);

	if (r < 0)
		return r;
	if (!in->agent)
		return fail(in, "AGENT_ERROR", err, NULL);
	if (in->agent->kind != AGENT_LLM)
		return fail(in, "AGENT_ERROR", err, "only an LlmAgent can be run");
	do {
		model_reply_release(reply);
		*reply = (struct model_reply){ .on_text = on_text, .arg = in };
		if (cancel_fired(&in->live->cancel))
			return err_set(err, -ECANCELED, "cancelled");
		r = step(in, reply, err);
	} while (r == 0);
	return r < 0 ? r : 0;
}

int invocation_run(const struct invocation_host *host, struct live *live, struct agent_tree *tree,
		   const struct err *why)
{
	struct invocation in = { .host = host, .live = live, .agent = tree ? tree->root : NULL };
	struct model_reply reply = { 0 };
	struct err err = { 0 };
	int r;

	if (!tree)
		err = *why;
	r = run_agent(&in, &reply, &err);
	if (r == 0)
		r = turn_end(host->store, live->ref, live->n, TURN_DONE, NULL, NULL, &in.info,
			     &err);
	if (r < 0) {
		err.code = r;
		finish_failed(&in, &reply, &err);
	}
	model_reply_release(&reply);
	return r;
}

struct open_calls {
	struct buf lines; /* answers that are missing, as parts */
	char invocation[64];
	struct content *last; /* calls of the last event that had some */
};

static int note_calls(void *arg, struct span line)
{
	struct open_calls *open = arg;
	CLEANUP(event_release) struct event e = { 0 };
	CLEANUP(content_free_p) struct content *content = NULL;
	CLEANUP(buf_release) struct buf invocation = { 0 };
	struct span json;
	int r = event_from_json(line, &e, NULL);

	if (r == 0)
		r = event_text(&e, EVENT_INVOCATION, &invocation);
	json = event_json(&e, EVENT_CONTENT);
	if (r < 0 || !json.len || !span_is(buf_span(&invocation), open->invocation))
		return r;
	r = content_from_json(json, &content, NULL);
	if (r < 0)
		return r;
	if (content_has(content, PART_RESPONSE) || content_has(content, PART_CALL)) {
		content_free(open->last);
		open->last = content_has(content, PART_CALL) ? STEAL(&content) : NULL;
	}
	return 0;
}

/* Answers to the calls that an earlier process had not finished. */
static int abort_calls(struct invocation *in, struct err *err)
{
	struct open_calls open = { 0 };
	struct tool_call *calls;
	size_t n = 0;
	size_t i;
	int r;

	memcpy(open.invocation, in->info.invocation, sizeof open.invocation);
	r = session_lines(in->host->store, in->live->ref, in->info.first, in->info.last, note_calls,
			  &open, err);
	calls = open.last ? calloc(open.last->count, sizeof *calls) : NULL;
	for (i = 0; r == 0 && calls && i < open.last->count; i++) {
		if (open.last->parts[i].kind != PART_CALL)
			continue;
		calls[n].id = open.last->parts[i].id;
		calls[n++].name = open.last->parts[i].name;
	}
	if (n)
		close_calls(in, calls, n);
	for (i = 0; i < n; i++)
		tool_call_release(&calls[i]);
	free(calls);
	content_free(open.last);
	return r;
}

int invocation_abort(struct store *st, struct ref session, uint64_t n, struct err *err)
{
	static const struct runner_options quiet;
	struct invocation_host host = { .store = st, .options = &quiet };
	struct invocation in = { .host = &host, .code = "ABORTED" };
	struct model_reply nothing = { 0 };
	struct agent *as = NULL;
	struct agent stand_in = { 0 };
	struct err why = { .code = -EIO, .text = "the daemon ended while the turn ran" };
	int r = turn_stat(st, session, n, &in.info, err);

	if (r < 0)
		return r;
	if (in.info.agent[0]) { /* only its name is known, and only that is used */
		stand_in.name = in.info.agent;
		as = &stand_in;
	}
	in.agent = as;
	in.live = live_new(session, &in.info, err);
	if (!in.live)
		return -ENOMEM;
	r = abort_calls(&in, err);
	if (r == 0)
		finish_failed(&in, &nothing, &why);
	live_unref(in.live);
	return r;
}
