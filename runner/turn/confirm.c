/*
 * Confirmations: see confirm.h.
 */
#include "runner/turn/confirm.h"

#include "base/clock.h"
#include "runner/history/open_calls.h"
#include "runner/history/speaker.h"
#include "runner/turn/commit.h"
#include "runner/turn/run.h"

#include <errno.h>
#include <stdlib.h>

#define REQUEST  "adk_request_confirmation"
#define REQUIRED "{\"error\":\"confirmation required\"}"

/* Asking */

static void add_hint(const struct tool_call *call, struct buf *out)
{
	CLEANUP(buf_release) struct buf hint = { 0 };

	buf_printf(&hint, "May %s be called?", call->name);
	buf_text(out, "{\"hint\":");
	json_quote(out, buf_span(&hint));
	buf_text(out, ",\"confirmed\":false}");
}

static int add_request(const struct tool_call *call, struct content *content, struct buf *ids)
{
	CLEANUP(buf_release) struct buf args = { 0 };
	char id[48];

	clock_new_id(id, "adk-");
	buf_text(&args, "{\"originalFunctionCall\":{\"id\":");
	json_quote(&args, span_of(call->id));
	buf_text(&args, ",\"args\":");
	buf_span_add(&args, buf_span(&call->logged));
	buf_text(&args, ",\"name\":");
	json_quote(&args, span_of(call->name));
	buf_text(&args, "},\"toolConfirmation\":");
	add_hint(call, &args);
	buf_char(&args, '}');
	buf_char(ids, ids->len ? ',' : '[');
	json_quote(ids, span_of(id));
	if (args.failed || ids->failed)
		return -ENOMEM;
	return content_add_function(content, PART_CALL, id, REQUEST, buf_span(&args));
}

/* Add a call to the actions of the placeholder's event. */
static void add_requested(const struct tool_call *call, struct buf *actions)
{
	buf_text(actions, actions->len
				  ? ","
				  : "{\"skipSummarization\":true,\"requestedToolConfirmations\":{");
	json_quote(actions, span_of(call->id));
	buf_char(actions, ':');
	add_hint(call, actions);
}

int confirm_ask(struct agent_run *run, const struct tool_call *calls, size_t n, struct buf *asked)
{
	CLEANUP(content_free_p) struct content *content = content_new("user");
	CLEANUP(event_release) struct event e = { 0 };
	CLEANUP(buf_release) struct buf ids = { 0 };
	CLEANUP(buf_release) struct buf actions = { 0 };
	size_t i;
	int r = content ? 0 : -ENOMEM;

	for (i = 0; r == 0 && i < n; i++) {
		if (!calls[i].asks)
			continue;
		r = add_request(&calls[i], content, &ids);
		add_requested(&calls[i], &actions);
	}
	if (r == 0 && !ids.len)
		return 0;
	buf_text(&actions, "}}");
	if (r < 0 || actions.failed)
		return run_nomem(run);
	event_set_content(&e, content);
	pending_put(&e, &ids);
	run_note_transferred(run, &e);
	r = run_commit(run, &e, NULL, NULL, 0);
	*asked = actions;
	actions = (struct buf){ 0 };
	return r;
}

/* Answers */

static void release_one(struct confirmed *c)
{
	free(c->id);
	free(c->name);
	buf_release(&c->args);
}

void confirm_free(struct confirmed *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		release_one(&list[i]);
	free(list);
}

bool confirm_is_placeholder(const struct part *response)
{
	return response->json && !strcmp(response->json, REQUIRED);
}

/* Parse {"confirmed": true}, or {"response": the same as text}: only a JSON true approves. */
static bool is_approval(struct span response)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	CLEANUP(buf_release) struct buf json = { 0 };
	struct span value;

	if (json_member(response, "confirmed", &value) == 0)
		return span_is(value, "true");
	if (json_member(response, "response", &value) < 0 || json_unquote(value, &text) < 0 ||
	    json_canonical_text(buf_span(&text), JSON_DEPTH_FREE, &json, NULL) < 0)
		return false;
	return json.data[0] == '{' && json_member(buf_span(&json), "confirmed", &value) == 0 &&
	       span_is(value, "true");
}

struct call_search {
	const char *id;
	struct call_info *out;
};

static int match_call(void *arg, const struct call_info *info)
{
	struct call_search *s = arg;

	if (info->kind != CALL_TOOL || strcmp(info->id, s->id) != 0)
		return 0;
	*s->out = *info;
	return 1;
}

/* Whether the call still waits in turn n: a request can be answered once. */
static bool still_waits(struct store *st, struct ref session, uint64_t n, const char *id)
{
	struct call_info *info = malloc(sizeof *info);
	struct call_search search = { id, info };
	struct part part = { 0 };
	uint64_t end = n > CALL_LOOK_BACK ? n - CALL_LOOK_BACK : 0;
	bool waits = false;
	int r = 0;

	while (info && r == 0 && n > end)
		r = call_list(st, session, (struct call_place){ .n = n-- }, match_call, &search,
			      NULL);
	if (r == 1 && call_part(st, session, &info->answer, &part, NULL) == 0)
		waits = confirm_is_placeholder(&part);
	part_release(&part);
	free(info);
	return waits;
}

static int copy_call(const struct part *call, struct confirmed *out)
{
	out->id = strdup(call->id);
	out->name = strdup(call->name);
	buf_text(&out->args, call->json ? call->json : "{}");
	return out->id && out->name && !out->args.failed ? 0 : -ENOMEM;
}

static bool same_call(const struct part *call, struct span original)
{
	CLEANUP(buf_release) struct buf name = { 0 };
	struct span value;
	struct span args;

	if (json_member(original, "name", &value) < 0 || json_unquote(value, &name) < 0 ||
	    json_member(original, "args", &args) < 0)
		return false;
	return span_is(buf_span(&name), call->name) &&
	       span_is(args, call->json ? call->json : "{}");
}

void decision_release(struct decision *d)
{
	content_free(d->request);
	caller_release(&d->caller);
}

/* Find the call of that id. 1: there is none. */
static int find_call(struct store *st, struct ref session, const char *id, struct caller *caller,
		     struct err *err)
{
	int r;

	caller_release(caller);
	r = speaker_of_call(st, session, id, caller, err);
	return r == -ENOENT ? 1 : r;
}

int decision_find(struct store *st, struct ref session, uint64_t n, const struct part *answer,
		  struct decision *d, struct err *err)
{
	CLEANUP(buf_release) struct buf id = { 0 };
	struct err reason = { 0 };
	const struct part *request;
	struct span value;
	int r;

	if (answer->kind != PART_RESPONSE || !answer->id || !answer->json ||
	    strcmp(answer->name, REQUEST) != 0)
		return 1;
	r = find_call(st, session, answer->id, &d->caller, &reason);
	request = d->caller.call;
	d->request = STEAL(&d->caller.content);
	if (r == 0 && (!request->json || strcmp(request->name, REQUEST) != 0 ||
		       json_member(span_of(request->json), "originalFunctionCall", &d->asked) < 0 ||
		       json_member(d->asked, "id", &value) < 0 || json_unquote(value, &id) < 0 ||
		       !buf_cstr(&id)))
		r = 1;
	if (r == 0)
		r = find_call(st, session, id.data, &d->caller, &reason);
	if (r == 0)
		d->is_same = same_call(d->caller.call, d->asked);
	d->approved = d->is_same && is_approval(span_of(answer->json));
	if (r < 0 && err)
		*err = reason;
	return r == 0 && !still_waits(st, session, n, id.data) ? 1 : r;
}

/* Find the call that a part decides about. 1: none, or one of another agent. */
static int find_one(struct agent_run *run, const struct part *answer, struct confirmed *out,
		    struct err *err)
{
	struct invocation *in = run->sink->in;
	CLEANUP(decision_release) struct decision d = { 0 };
	int r = decision_find(in->host->store, in->live->ref, in->live->n, answer, &d, err);

	if (r)
		return r;
	if (!span_is(buf_span(&d.caller.author), run->agent->name))
		return 1;
	*out = (struct confirmed){ .approved = d.approved, .reason = "rejected by the user" };
	if (!d.is_same)
		out->reason = "what was confirmed is not the call that was made";
	return copy_call(d.caller.call, out);
}

/* Drop the last decision if the message has an earlier one about the same call. */
static bool is_listed(struct confirmed *list, size_t last)
{
	size_t i;

	for (i = 0; i < last; i++) {
		if (!strcmp(list[i].id, list[last].id)) {
			release_one(&list[last]);
			return true;
		}
	}
	return false;
}

int confirm_find(struct agent_run *run, struct confirmed **list, size_t *n)
{
	CLEANUP(content_free_p) struct content *message = NULL;
	struct err err = { 0 };
	size_t i;
	int r = 0;

	*n = 0;
	*list = NULL;
	if (!run->sink->message.len || content_from_stored(run->sink->message, &message) < 0 ||
	    !content_has(message, PART_RESPONSE))
		return 0;
	*list = calloc(message->count, sizeof **list);
	if (!*list)
		return run_nomem(run);
	for (i = 0; r >= 0 && i < message->count; i++) {
		r = find_one(run, &message->parts[i], &(*list)[*n], &err);
		if (r == 0 && !is_listed(*list, *n))
			++*n;
	}
	if (r >= 0)
		return 0;
	confirm_free(*list, *n);
	*list = NULL;
	*n = 0;
	return run_fail(run, NULL, &err);
}

int confirm_is_spent(struct agent_run *run)
{
	CLEANUP(content_free_p) struct content *message = NULL;
	struct confirmed *list;
	size_t n;
	size_t i;
	int r;

	if (content_from_stored(run->sink->message, &message) < 0)
		return run_nomem(run);
	for (i = 0; i < message->count; i++) {
		if (message->parts[i].kind != PART_RESPONSE ||
		    strcmp(message->parts[i].name, REQUEST) != 0)
			return 0;
	}
	r = confirm_find(run, &list, &n);
	if (r < 0)
		return r;
	confirm_free(list, n);
	return n == 0;
}
