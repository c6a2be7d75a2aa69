/*
 * Answers of Anthropic messages, event by event or as one document. Each type of event
 * has a row in a table.
 */
#include "runner/provider/anthropic/anthropic.h"

#include "base/json_text.h"
#include "runner/provider/anthropic/parts.h"

#include <errno.h>
#include <stdlib.h>

#define STOP_REFUSAL "refusal"
#define DONE_MARK    "[DONE]" /* some gateways send it */

/* The counts of tokens of the service; below 0: unknown. */
enum count { COUNT_INPUT, COUNT_OUTPUT, COUNT_CACHE_READ, COUNT_CACHE_NEW, COUNT_THINKING, COUNTS };

struct decoder {
	struct model_decode base;
	struct anthropic_blocks blocks;
	long long counts[COUNTS];
	struct buf stop;     /* why the answer ended */
	struct buf category; /* of a refusal */
	struct buf explanation;
	bool counted; /* the counts are set */
	bool done;    /* the end mark came, or a whole message */
};

struct usage {
	struct span counts[COUNTS];
	struct span details;
};

static const struct jsonpick usage_members[] = {
	{ "input_tokens", offsetof(struct usage, counts[COUNT_INPUT]) },
	{ "output_tokens", offsetof(struct usage, counts[COUNT_OUTPUT]) },
	{ "cache_read_input_tokens", offsetof(struct usage, counts[COUNT_CACHE_READ]) },
	{ "cache_creation_input_tokens", offsetof(struct usage, counts[COUNT_CACHE_NEW]) },
	{ "output_tokens_details", offsetof(struct usage, details) },
	{ "thinking_tokens", offsetof(struct usage, counts[COUNT_THINKING]) }, /* in details */
	{ 0 },
};

/* Cached tokens are counted beside the input, thinking inside the output. */
static int report_usage(struct decoder *d)
{
	const long long *n = d->counts;
	long long counts[MODEL_COUNTS] = { -1, -1, -1, -1, -1 };

	if (n[COUNT_INPUT] >= 0)
		counts[MODEL_COUNT_PROMPT] = n[COUNT_INPUT] + MAX(n[COUNT_CACHE_READ], 0) +
					     MAX(n[COUNT_CACHE_NEW], 0);
	counts[MODEL_COUNT_CACHED] = n[COUNT_CACHE_READ];
	counts[MODEL_COUNT_THOUGHTS] = n[COUNT_THINKING];
	if (n[COUNT_OUTPUT] >= 0)
		counts[MODEL_COUNT_CANDIDATES] = MAX(n[COUNT_OUTPUT] - MAX(n[COUNT_THINKING], 0),
						     0);
	if (n[COUNT_INPUT] >= 0 && n[COUNT_OUTPUT] >= 0)
		counts[MODEL_COUNT_TOTAL] = counts[MODEL_COUNT_PROMPT] + n[COUNT_OUTPUT];
	return model_reply_usage(d->base.reply, counts);
}

/* Counts are totals: a later one takes the place of an earlier one. */
static int take_usage(struct decoder *d, struct span object)
{
	struct usage u = { 0 };
	size_t i;
	int r = jsonpick_object(object, usage_members, &u);

	if (r == 0)
		r = jsonpick_object(u.details, usage_members, &u);
	for (i = 0; i < COUNTS; i++) {
		if (!d->counted || jsonpick_count(u.counts[i]) >= 0)
			d->counts[i] = jsonpick_count(u.counts[i]);
	}
	d->counted = true;
	return r < 0 || !jsonpick_is(object, '{') ? r : report_usage(d);
}

/* Why the answer ended: in a whole message, or in the delta of a message_delta. */
struct stop {
	struct span reason;
	struct span details;
};

static const struct jsonpick stop_members[] = {
	{ "stop_reason", offsetof(struct stop, reason) },
	{ "stop_details", offsetof(struct stop, details) },
	{ 0 },
};

struct stop_details {
	struct span category;
	struct span explanation;
};

static const struct jsonpick stop_detail_members[] = {
	{ "category", offsetof(struct stop_details, category) },
	{ "explanation", offsetof(struct stop_details, explanation) },
	{ 0 },
};

static int take_stop(struct decoder *d, struct span object)
{
	struct stop s = { 0 };
	struct stop_details details = { 0 };
	int r = jsonpick_object(object, stop_members, &s);

	if (r == 0)
		r = jsonpick_object(s.details, stop_detail_members, &details);
	if (r == 0)
		r = model_call_set(&d->stop, s.reason);
	if (r == 0)
		r = model_call_set(&d->category, details.category);
	return r < 0 ? r : model_call_set(&d->explanation, details.explanation);
}

struct event {
	struct span type;
	struct span message;
	struct span index;
	struct span content_block;
	struct span delta;
	struct span usage;
	struct span error;
	struct span content; /* of a whole message */
	struct span model;
	struct span payload; /* the whole event */
};

static const struct jsonpick event_members[] = {
	{ "type", offsetof(struct event, type) },
	{ "message", offsetof(struct event, message) },
	{ "index", offsetof(struct event, index) },
	{ "content_block", offsetof(struct event, content_block) },
	{ "delta", offsetof(struct event, delta) },
	{ "usage", offsetof(struct event, usage) },
	{ "error", offsetof(struct event, error) },
	{ "content", offsetof(struct event, content) },
	{ "model", offsetof(struct event, model) },
	{ 0 },
};

/* A proxy may send the start twice. After the first block a start belongs to another answer. */
static int take_start(struct decoder *d, const struct event *e)
{
	struct event message = { 0 };
	int r = jsonpick_object(e->message, event_members, &message);

	if (r == 0 && d->blocks.count)
		return err_set(d->base.err, -EPROTO,
			       "the model service began a second answer inside the first");
	if (r == 0)
		r = model_decode_version(&d->base, message.model);
	return r < 0 ? r : take_usage(d, message.usage);
}

static int take_block_start(struct decoder *d, const struct event *e)
{
	return anthropic_block_begin(&d->blocks, &d->base, jsonpick_count(e->index),
				     e->content_block);
}

static int take_block_delta(struct decoder *d, const struct event *e)
{
	return anthropic_block_delta(&d->blocks, &d->base, jsonpick_count(e->index), e->delta);
}

static int take_block_stop(struct decoder *d, const struct event *e)
{
	return anthropic_block_end(&d->blocks, &d->base, jsonpick_count(e->index));
}

static int take_message_delta(struct decoder *d, const struct event *e)
{
	int r = take_stop(d, e->delta);

	return r < 0 ? r : take_usage(d, e->usage);
}

static int take_message_stop(struct decoder *d, const struct event *e UNUSED)
{
	d->done = true;
	return 0;
}

static int take_whole_block(void *arg, struct span item)
{
	struct decoder *d = arg;
	long long index = (long long)d->blocks.count;
	int r = anthropic_block_begin(&d->blocks, &d->base, index, item);

	return r < 0 ? r : anthropic_block_end(&d->blocks, &d->base, index);
}

/* An answer that was not streamed comes as one message. */
static int take_message(struct decoder *d, const struct event *e)
{
	int r = model_decode_version(&d->base, e->model);

	if (r == 0)
		r = jsonpick_list(e->content, take_whole_block, d);
	if (r == 0)
		r = take_stop(d, e->payload);
	if (r == 0)
		r = take_usage(d, e->usage);
	d->done = jsonpick_is(e->content, '[');
	return r;
}

struct error {
	struct span message;
	struct span detail;
};

static const struct jsonpick error_members[] = {
	{ "message", offsetof(struct error, message) },
	{ "detail", offsetof(struct error, detail) },
	{ 0 },
};

static bool say_error(const struct event *e, struct buf *message)
{
	struct error error = { 0 };
	struct error outer = { 0 };

	if (jsonpick_object(e->error, error_members, &error) < 0 ||
	    jsonpick_object(e->payload, error_members, &outer) < 0)
		return false;
	return model_decode_string(error.message, message) ||
	       model_decode_string(e->error, message) ||
	       model_decode_string(outer.message, message) ||
	       model_decode_string(outer.detail, message);
}

static int take_error(struct decoder *d, const struct event *e)
{
	CLEANUP(buf_release) struct buf message = { 0 };

	return model_decode_error(&d->base, say_error(e, &message) ? &message : NULL, e->payload);
}

static const struct event_type {
	const char *type;
	int (*take)(struct decoder *d, const struct event *e);
} event_types[] = {
	{ "\"message_start\"", take_start },
	{ "\"content_block_start\"", take_block_start },
	{ "\"content_block_delta\"", take_block_delta },
	{ "\"content_block_stop\"", take_block_stop },
	{ "\"message_delta\"", take_message_delta },
	{ "\"message_stop\"", take_message_stop },
	{ "\"message\"", take_message },
	{ "\"error\"", take_error },
};

static int take_event(struct decoder *d, struct span payload)
{
	struct event e = { .payload = payload };
	size_t i;
	int r = jsonpick_object(payload, event_members, &e);

	if (r < 0)
		return r;
	for (i = 0; i < ARRAY_SIZE(event_types); i++) {
		if (span_is(e.type, event_types[i].type))
			return event_types[i].take(d, &e);
	}
	return jsonpick_present(e.error) ? take_error(d, &e) : 0;
}

static void decoder_release(void *decoder)
{
	struct decoder *d = decoder;

	anthropic_blocks_release(&d->blocks);
	buf_release(&d->stop);
	buf_release(&d->category);
	buf_release(&d->explanation);
}

static int decode(void *decoder, struct span event)
{
	struct decoder *d = decoder;
	struct span payload;
	int r;

	if (d->done || span_is(event, DONE_MARK))
		return 0;
	r = model_decode_begin(&d->base, event, "{", &payload);
	if (r == 0)
		r = take_event(d, payload);
	return r;
}

static const struct model_finish finishes[] = {
	{ "end_turn", "STOP", NULL },
	{ "stop_sequence", "STOP", NULL },
	{ "tool_use", "STOP", NULL },
	{ "", "FINISH_REASON_UNSPECIFIED", NULL },
	{ "max_tokens", "MAX_TOKENS", "the limit of tokens was reached before any content" },
	{ "model_context_window_exceeded", "MAX_TOKENS",
	  "the context window of the model was full before any content" },
	{ STOP_REFUSAL, "SAFETY", "the model refused to answer" },
	{ NULL, "OTHER", "the model ended without content" },
};

/* A refusal is an error, even after some content. */
static int report_refusal(struct decoder *d)
{
	CLEANUP(buf_release) struct buf text = { 0 };

	buf_text(&text, "the model refused to answer");
	if (d->category.len) {
		buf_text(&text, " (");
		buf_span_add(&text, buf_span(&d->category));
		buf_char(&text, ')');
	}
	if (d->explanation.len) {
		buf_text(&text, ": ");
		buf_span_add(&text, buf_span(&d->explanation));
	}
	if (!buf_cstr(&text))
		return -ENOMEM;
	return model_reply_error(d->base.reply, "SAFETY", text.data);
}

static bool is_cut(struct span stop)
{
	return span_is(stop, "max_tokens") || span_is(stop, "model_context_window_exceeded");
}

static int finish(struct decoder *d)
{
	struct span stop = buf_span(&d->stop);
	bool refused = span_is(stop, STOP_REFUSAL);
	int r = refused ? 0 : anthropic_blocks_finish(&d->blocks, &d->base, is_cut(stop));

	if (r == 0)
		r = model_decode_finish(&d->base, finishes, stop);
	return r < 0 || !refused ? r : report_refusal(d);
}

static int end(void *decoder)
{
	struct decoder *d = decoder;
	int r;

	r = anthropic_blocks_flush(&d->blocks, &d->base);
	if (r == 0 && !d->done)
		return -ENODATA;
	if (r == 0)
		r = finish(d);
	return r;
}

const struct model_decoder anthropic_decoder = { sizeof(struct decoder), decode, end,
						 decoder_release };

bool anthropic_error_message(struct span body, struct buf *message)
{
	CLEANUP(buf_release) struct buf mended = { 0 };
	struct event e = { 0 };

	if (!model_error_json(body, "{", &mended))
		return false;
	e.payload = buf_span(&mended);
	return jsonpick_object(e.payload, event_members, &e) == 0 && say_error(&e, message);
}
