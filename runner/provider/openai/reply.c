/*
 * Answers of OpenAI chat completions and of the many servers that imitate
 * them, chunk by chunk or as one document.
 *
 * Texts go to the reply as they come. Calls (calls.c) follow when the answer is complete.
 */
#include "runner/provider/openai/openai.h"

#include "base/json_text.h"

#include <errno.h>
#include <stdlib.h>

#define OPENAI_END_MARK      "[DONE]"
#define OPENAI_FINISH_LENGTH "length"
#define OPENAI_FINISH_FILTER "content_filter"

struct decoder {
	struct model_decode base;
	struct model_texts texts;
	struct model_calls calls;
	struct buf finish; /* the server's finish reason */
	bool finished;     /* a finish reason has come */
	bool done;         /* the end mark came */
	bool whole;        /* a whole message came, not deltas */
};

struct item {
	struct span text;
	struct span thinking;
};

static const struct jsonpick item_members[] = {
	{ "text", offsetof(struct item, text) },
	{ "thinking", offsetof(struct item, thinking) },
	{ 0 },
};

static int take_thinking_item(void *arg, struct span item)
{
	struct decoder *d = arg;
	struct item i = { 0 };
	int r = jsonpick_object(item, item_members, &i);

	return r < 0 ? r : model_decode_text(&d->base, i.text, &d->texts.thought, MODEL_THOUGHT);
}

static int take_content_item(void *arg, struct span item)
{
	struct decoder *d = arg;
	struct item i = { 0 };
	int r = jsonpick_object(item, item_members, &i);

	if (r == 0)
		r = model_decode_text(&d->base, i.thinking, &d->texts.thought, MODEL_THOUGHT);
	if (r == 0)
		r = jsonpick_list(i.thinking, take_thinking_item, d);
	return r < 0 ? r : model_decode_text(&d->base, i.text, &d->texts.content, MODEL_SPOKEN);
}

static int take_call_piece(void *arg, struct span item)
{
	struct decoder *d = arg;

	return openai_calls_take(&d->calls, item, d->base.marked, d->base.err);
}

/* Keep a signature, which later goes back unchanged. */
static int take_signature(struct decoder *d, struct span extra_content)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	int r = openai_signature(extra_content, &text);

	return r < 0 || !text.len ? r : model_reply_sign_text(d->base.reply, buf_span(&text));
}

struct delta {
	struct span content;
	struct span refusal;
	struct span reasoning;
	struct span reasoning_content;
	struct span tool_calls;
	struct span extra;
};

static const struct jsonpick delta_members[] = {
	{ "content", offsetof(struct delta, content) },
	{ "refusal", offsetof(struct delta, refusal) },
	{ "reasoning", offsetof(struct delta, reasoning) },
	{ "reasoning_content", offsetof(struct delta, reasoning_content) },
	{ "tool_calls", offsetof(struct delta, tool_calls) },
	{ "extra_content", offsetof(struct delta, extra) },
	{ 0 },
};

/* Reasoning has one of two names; a server that sends both repeats the text. */
static int take_delta(struct decoder *d, struct span object)
{
	struct delta delta = { 0 };
	int r = jsonpick_object(object, delta_members, &delta);

	if (r == 0)
		r = model_decode_text(&d->base,
				      jsonpick_present(delta.reasoning_content)
					      ? delta.reasoning_content
					      : delta.reasoning,
				      &d->texts.thought, MODEL_THOUGHT);
	if (r == 0)
		r = model_decode_text(&d->base, delta.content, &d->texts.content, MODEL_SPOKEN);
	if (r == 0)
		r = jsonpick_list(delta.content, take_content_item, d);
	if (r == 0)
		r = model_decode_text(&d->base, delta.refusal, &d->texts.refusal, MODEL_SPOKEN);
	if (r == 0)
		r = take_signature(d, delta.extra);
	return r < 0 ? r : jsonpick_list(delta.tool_calls, take_call_piece, d);
}

struct choice {
	struct span index;
	struct span delta;
	struct span message;
	struct span finish_reason;
};

static const struct jsonpick choice_members[] = {
	{ "index", offsetof(struct choice, index) },
	{ "delta", offsetof(struct choice, delta) },
	{ "message", offsetof(struct choice, message) },
	{ "finish_reason", offsetof(struct choice, finish_reason) },
	{ 0 },
};

static int take_finish(struct decoder *d, struct span token)
{
	int r;

	if (!jsonpick_is(token, '"') || span_is(token, "\"\""))
		return 0;
	buf_clear(&d->finish);
	r = json_unquote(token, &d->finish);
	d->finished = true;
	return r;
}

/* Some servers send the message so far beside each delta; the delta counts. */
static int take_choice(void *arg, struct span item)
{
	struct decoder *d = arg;
	struct choice c = { 0 };
	int r = jsonpick_object(item, choice_members, &c);

	if (r < 0 || jsonpick_count(c.index) > 0)
		return r;
	if (jsonpick_is(c.delta, '{')) {
		r = take_delta(d, c.delta);
	} else {
		d->whole |= jsonpick_is(c.message, '{');
		r = take_delta(d, c.message);
	}
	return r < 0 ? r : take_finish(d, c.finish_reason);
}

struct chunk {
	struct span error;
	struct span choices;
	struct span usage;
	struct span model;
	struct span object;
	struct span message;
	struct span detail;
};

static const struct jsonpick chunk_members[] = {
	{ "error", offsetof(struct chunk, error) },
	{ "choices", offsetof(struct chunk, choices) },
	{ "usage", offsetof(struct chunk, usage) },
	{ "model", offsetof(struct chunk, model) },
	{ "object", offsetof(struct chunk, object) },
	{ "message", offsetof(struct chunk, message) },
	{ "detail", offsetof(struct chunk, detail) },
	{ 0 },
};

struct error {
	struct span message;
	struct span metadata;
	struct span raw; /* in metadata: the error of the server that a gateway asked */
};

static const struct jsonpick error_members[] = {
	{ "message", offsetof(struct error, message) },
	{ "metadata", offsetof(struct error, metadata) },
	{ "raw", offsetof(struct error, raw) },
	{ 0 },
};

static bool chunk_error(const struct chunk *c, struct buf *message)
{
	struct error e = { 0 };

	if (jsonpick_object(c->error, error_members, &e) < 0 ||
	    jsonpick_object(e.metadata, error_members, &e) < 0)
		return false;
	return model_decode_string(e.raw, message) || model_decode_string(e.message, message) ||
	       model_decode_string(c->error, message) || model_decode_string(c->message, message) ||
	       model_decode_string(c->detail, message);
}

static int report_error(struct decoder *d, const struct chunk *c, struct span payload)
{
	CLEANUP(buf_release) struct buf message = { 0 };

	return model_decode_error(&d->base, chunk_error(c, &message) ? &message : NULL, payload);
}

static int take_chunk(struct decoder *d, struct span payload)
{
	struct chunk c = { 0 };
	int r = jsonpick_object(payload, chunk_members, &c);

	if (r < 0)
		return r;
	if (jsonpick_present(c.error) || span_is(c.object, "\"error\""))
		return report_error(d, &c, payload);
	r = model_decode_version(&d->base, c.model);
	if (r == 0)
		r = jsonpick_list(c.choices, take_choice, d);
	return r < 0 ? r : openai_usage_take(&d->base, openai_chat_usage, c.usage);
}

static void decoder_release(void *decoder)
{
	struct decoder *d = decoder;

	model_calls_release(&d->calls);
	buf_release(&d->finish);
}

static int decode(void *decoder, struct span event)
{
	struct decoder *d = decoder;
	struct span payload;
	int r;

	if (d->done)
		return 0;
	if (span_is(event, OPENAI_END_MARK)) {
		d->done = true;
		return 0;
	}
	r = model_decode_begin(&d->base, event, "{", &payload);
	if (r == 0)
		r = take_chunk(d, payload);
	/* An event that a broken connection cut after the finish reason is no loss. */
	if (r == -ENODATA && d->finished)
		return 0;
	return r;
}

static const struct model_finish finishes[] = {
	{ "stop", "STOP", NULL },
	{ "tool_calls", "STOP", NULL },
	{ "function_call", "STOP", NULL },
	{ "", "FINISH_REASON_UNSPECIFIED", NULL },
	{ OPENAI_FINISH_LENGTH, "MAX_TOKENS",
	  "the limit of tokens was reached before any content" },
	{ OPENAI_FINISH_FILTER, "SAFETY", "a filter of the provider stopped the answer" },
	{ NULL, "OTHER", "the model ended without content" },
};

static int finish_calls(struct decoder *d)
{
	struct span word = buf_span(&d->finish);
	bool cut = span_is(word, OPENAI_FINISH_LENGTH);
	int r = 0;

	if (cut || span_is(word, OPENAI_FINISH_FILTER))
		r = model_calls_check_begun(&d->calls, d->base.err);
	return r < 0 ? r : model_calls_finish(&d->calls, cut, d->base.reply, d->base.err);
}

static int end(void *decoder)
{
	struct decoder *d = decoder;
	int r;

	r = model_decode_texts_end(&d->base, &d->texts);
	if (r == 0 && !d->finished && !d->done && !d->whole)
		return -ENODATA;
	if (r == 0)
		r = finish_calls(d);
	if (r == 0)
		r = model_decode_finish(&d->base, finishes, buf_span(&d->finish));
	return r;
}

const struct model_decoder openai_decoder = { sizeof(struct decoder), decode, end,
					      decoder_release };

bool openai_error_message(struct span body, struct buf *message)
{
	CLEANUP(buf_release) struct buf mended = { 0 };
	struct chunk c = { 0 };

	return model_error_json(body, "{", &mended) &&
	       jsonpick_object(buf_span(&mended), chunk_members, &c) == 0 &&
	       chunk_error(&c, message);
}
