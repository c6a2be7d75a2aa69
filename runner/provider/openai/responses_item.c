/*
 * Items in answers of OpenAI Responses: messages, thoughts and calls.
 *
 * An item is found by its output_index, since some gateways change ids from event to
 * event. A text reaches the reply in pieces, or with its item if no piece came. A call
 * reaches the reply when the answer is complete.
 */
#include "runner/provider/openai/responses.h"

#include "base/json_text.h"

#include <errno.h>
#include <stdlib.h>

int responses_item(struct responses_decoder *d, long long index, struct responses_item **out)
{
	const struct content *c = d->base.reply->content;
	struct responses_item fresh = { .index = index, .section = -1, .at = c ? c->count : 0 };
	size_t count;
	struct responses_item *list = BUF_LIST(struct responses_item, &d->items, &count);
	size_t i;

	for (i = count; i-- > 0;) {
		if (list[i].index == index) {
			*out = &list[i];
			return 0;
		}
	}
	if (count == RESPONSES_ITEMS_MAX)
		return err_set(d->base.err, -E2BIG, "the answer has more than %d items",
			       RESPONSES_ITEMS_MAX);
	buf_add(&d->items, &fresh, sizeof fresh);
	if (d->items.failed)
		return -ENOMEM;
	*out = BUF_LIST(struct responses_item, &d->items, NULL) + count;
	return 0;
}

bool responses_are_open(const struct responses_decoder *d)
{
	size_t count;
	const struct responses_item *list = BUF_LIST(struct responses_item, &d->items, &count);
	size_t i;

	for (i = 0; i < count; i++) {
		if (list[i].index < 0 || list[i].closed)
			return false;
	}
	return true;
}

struct spans {
	struct span type;
	struct span status;
	struct span call_id;
	struct span name;
	struct span arguments;
	struct span content;
	struct responses_reasoning reasoning;
};

static const struct jsonpick span_members[] = {
	{ "type", offsetof(struct spans, type) },
	{ "status", offsetof(struct spans, status) },
	{ "call_id", offsetof(struct spans, call_id) },
	{ "name", offsetof(struct spans, name) },
	{ "arguments", offsetof(struct spans, arguments) },
	{ "content", offsetof(struct spans, content) },
	{ 0 },
};

/* Replace the arguments so far by a token, unless it is empty. */
static int set_arguments(struct responses_decoder *d, struct model_call *call, struct span token)
{
	if (!jsonpick_present(token) || span_is(token, "\"\""))
		return 0;
	buf_clear(&call->args);
	call->joint = (struct surrogate_joint){ 0 };
	return model_call_args(call, token, d->base.marked);
}

static int open_call(struct responses_decoder *d, struct responses_item *item,
		     const struct spans *s)
{
	struct model_call *call = model_calls_find(&d->calls, item->index);
	int r = call ? 0 : model_calls_add(&d->calls, item->index, &call, d->base.err);

	if (r == 0)
		r = model_call_set(&call->id, s->call_id);
	if (r == 0)
		r = model_call_set(&call->name, s->name);
	return r < 0 ? r : set_arguments(d, call, s->arguments);
}

int responses_item_arguments(struct responses_decoder *d, long long index, struct span token)
{
	struct model_call *call = model_calls_find(&d->calls, index);
	struct responses_item *item;
	int r = call ? responses_item(d, index, &item) : -ENOENT;

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	item->whole = true;
	return set_arguments(d, call, token);
}

struct piece {
	struct span text;
	struct span refusal;
};

static const struct jsonpick piece_members[] = {
	{ "text", offsetof(struct piece, text) },
	{ "refusal", offsetof(struct piece, refusal) },
	{ 0 },
};

static int take_said(void *arg, struct span object)
{
	struct responses_decoder *d = arg;
	struct piece p = { 0 };
	int r = jsonpick_object(object, piece_members, &p);

	if (r == 0)
		r = model_decode_text(&d->base, p.text, &d->texts.content, MODEL_SPOKEN);
	return r < 0 ? r : model_decode_text(&d->base, p.refusal, &d->texts.refusal, MODEL_SPOKEN);
}

static int take_thought(void *arg, struct span object)
{
	struct responses_decoder *d = arg;
	struct piece p = { 0 };
	int r = jsonpick_object(object, piece_members, &p);

	return r < 0 ? r : model_decode_text(&d->base, p.text, &d->texts.thought, MODEL_THOUGHT);
}

/* Take the text of a thought: a summary, the words, or neither. */
static int hear_thought(struct responses_decoder *d, const struct responses_reasoning *item)
{
	int r = jsonpick_list(item->summary, take_thought, d);

	return r < 0 ? r : jsonpick_list(item->content, take_thought, d);
}

/* Make sure that there is a thought for a signature, which may be empty. */
static int need_thought(struct responses_decoder *d, const struct responses_item *item)
{
	struct model_reply *reply = d->base.reply;
	size_t count = reply->content ? reply->content->count : 0;
	int r;

	if (count > item->at && reply->content->parts[count - 1].thought)
		return 0;
	r = model_reply_empty(reply);
	if (r == 0)
		reply->content->parts[count].thought = true;
	return r;
}

static int close_reasoning(struct responses_decoder *d, struct responses_item *item,
			   struct span json)
{
	CLEANUP(buf_release) struct buf kept = { 0 };
	CLEANUP(buf_release) struct buf whole = { 0 }; /* without halves of characters */
	struct responses_reasoning spans = { 0 };
	struct surrogate_joint joint = { 0 };
	int r = jsonpick_object(json, responses_reasoning_members, &spans);

	if (r == 0 && !item->heard)
		r = hear_thought(d, &spans);
	if (r == 0)
		r = model_decode_text_end(&d->base, &d->texts.thought, MODEL_THOUGHT);
	if (r < 0 || !jsonpick_is(spans.encrypted_content, '"'))
		return r;
	buf_char(&kept, '{');
	responses_reasoning_put(&spans, &kept);
	buf_char(&kept, '}');
	surrogate_join(&joint, buf_span(&kept), &whole);
	surrogate_finish(&joint, &whole);
	r = kept.failed || whole.failed ? -ENOMEM : need_thought(d, item);
	return r < 0 ? r : model_reply_sign_text(d->base.reply, buf_span(&whole));
}

int responses_item_open(struct responses_decoder *d, long long index, struct span json)
{
	struct responses_item *item;
	struct spans s = { 0 };
	int r = responses_item(d, index, &item);

	if (r == 0)
		r = jsonpick_object(json, span_members, &s);
	return r == 0 && span_is(s.type, "\"function_call\"") ? open_call(d, item, &s) : r;
}

int responses_item_close(struct responses_decoder *d, long long index, struct span json)
{
	struct responses_item *item;
	struct spans s = { 0 };
	int r = responses_item(d, index, &item);

	if (r == 0)
		r = jsonpick_object(json, span_members, &s);
	if (r < 0 || item->closed)
		return r;
	item->closed = true;
	item->whole = !span_is(s.status, "\"incomplete\"");
	if (span_is(s.type, "\"function_call\""))
		return open_call(d, item, &s);
	if (span_is(s.type, "\"reasoning\""))
		return close_reasoning(d, item, json);
	if (span_is(s.type, "\"message\"") && !item->heard)
		return jsonpick_list(s.content, take_said, d);
	return 0;
}

/* A call that was incomplete when the answer ended must not run. */
static int check_call(struct responses_decoder *d, struct model_call *call)
{
	struct responses_item *item;
	int r = responses_item(d, call->key, &item);

	if (r < 0 || item->whole || (!d->partial && call->args.len))
		return r;
	if (!buf_cstr(&call->name))
		return -ENOMEM;
	return err_set(d->base.err, -EPROTO, "the answer was cut off inside a call to '%.64s'",
		       call->name.data);
}

/* Move each call from the end of the content to the place where its item began. */
static int place_calls(struct responses_decoder *d)
{
	struct content *c = d->base.reply->content;
	size_t first = c->count - d->calls.count;
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < d->calls.count; i++) {
		struct part *from = &c->parts[first + i];
		struct part call = *from;
		struct responses_item *item;
		struct part *to;

		r = responses_item(d, d->calls.list[i].key, &item);
		if (r < 0)
			break;
		to = &c->parts[MIN(item->at, first) + i];
		memmove(to + 1, to, (size_t)(from - to) * sizeof call);
		*to = call;
	}
	return r;
}

int responses_calls_finish(struct responses_decoder *d)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < d->calls.count; i++)
		r = check_call(d, &d->calls.list[i]);
	if (r == 0)
		r = model_calls_finish(&d->calls, d->partial, d->base.reply, d->base.err);
	return r < 0 || !d->calls.count ? r : place_calls(d);
}
