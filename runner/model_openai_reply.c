/*
 * Answers of OpenAI chat completions and of the many servers that imitate
 * them, chunk by chunk or as one document.
 *
 * Texts go to the reply as they come, calls (model_openai_calls.c) when the
 * answer is complete. A row of a table for each member that matters.
 */
#include "runner/model_openai.h"

#include "base/jsontext.h"
#include "runner/jsonpick.h"
#include "runner/surrogate.h"

#include <errno.h>
#include <stdlib.h>

#define QUOTE_MAX       120 /* bytes of an offending payload in an error */
#define OPENAI_END_MARK "[DONE]"
#define BROKE_OFF       "the answer of the model broke off"

struct decoder {
	struct surrogate_joint content;
	struct surrogate_joint refusal;
	struct surrogate_joint thought;
	struct buf text;   /* scratch: a decoded string */
	struct buf mended; /* scratch: an event without lone surrogates */
	bool marked;       /* the event at hand had some */
	struct openai_calls calls;
	struct buf finish; /* the server's word */
	bool finished;     /* it came and is not empty */
	bool done;         /* the end mark came */
	bool whole;        /* a message, not deltas */
	struct model_reply *reply;
	struct err *err;
};

enum thought { SPOKEN, THOUGHT };

static int take_text(struct decoder *d, struct span token, struct surrogate_joint *joint,
		     enum thought thought)
{
	int r;

	if (!jsonpick_is(token, '"'))
		return 0;
	buf_clear(&d->text);
	r = surrogate_unquote(joint, token, d->marked, &d->text);
	return r < 0 ? r : model_reply_text(d->reply, buf_span(&d->text), thought == THOUGHT);
}

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

	return r < 0 ? r : take_text(d, i.text, &d->thought, THOUGHT);
}

static int take_content_item(void *arg, struct span item)
{
	struct decoder *d = arg;
	struct item i = { 0 };
	int r = jsonpick_object(item, item_members, &i);

	if (r == 0)
		r = take_text(d, i.thinking, &d->thought, THOUGHT);
	if (r == 0)
		r = jsonpick_list(i.thinking, take_thinking_item, d);
	return r < 0 ? r : take_text(d, i.text, &d->content, SPOKEN);
}

static int take_call_piece(void *arg, struct span item)
{
	struct decoder *d = arg;

	return openai_calls_take(&d->calls, item, d->marked, d->err);
}

struct delta {
	struct span content;
	struct span refusal;
	struct span reasoning;
	struct span reasoning_content;
	struct span tool_calls;
};

static const struct jsonpick delta_members[] = {
	{ "content", offsetof(struct delta, content) },
	{ "refusal", offsetof(struct delta, refusal) },
	{ "reasoning", offsetof(struct delta, reasoning) },
	{ "reasoning_content", offsetof(struct delta, reasoning_content) },
	{ "tool_calls", offsetof(struct delta, tool_calls) },
	{ 0 },
};

/* Reasoning comes under one of two names; servers that send both send the same twice. */
static int take_delta(struct decoder *d, struct span object)
{
	struct delta delta = { 0 };
	int r = jsonpick_object(object, delta_members, &delta);

	if (r == 0)
		r = take_text(d,
			      jsonpick_present(delta.reasoning_content) ? delta.reasoning_content
									: delta.reasoning,
			      &d->thought, THOUGHT);
	if (r == 0)
		r = take_text(d, delta.content, &d->content, SPOKEN);
	if (r == 0)
		r = jsonpick_list(delta.content, take_content_item, d);
	if (r == 0)
		r = take_text(d, delta.refusal, &d->refusal, SPOKEN);
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

static int take_choice(void *arg, struct span item)
{
	struct decoder *d = arg;
	struct choice c = { 0 };
	int r = jsonpick_object(item, choice_members, &c);

	if (r < 0 || jsonpick_count(c.index) > 0)
		return r;
	r = take_delta(d, c.delta);
	if (r == 0 && jsonpick_is(c.message, '{')) {
		d->whole = true;
		r = take_delta(d, c.message);
	}
	return r < 0 ? r : take_finish(d, c.finish_reason);
}

struct usage {
	struct span prompt;
	struct span completion;
	struct span total;
	struct span prompt_details;
	struct span completion_details;
};

static const struct jsonpick usage_members[] = {
	{ "prompt_tokens", offsetof(struct usage, prompt) },
	{ "completion_tokens", offsetof(struct usage, completion) },
	{ "total_tokens", offsetof(struct usage, total) },
	{ "prompt_tokens_details", offsetof(struct usage, prompt_details) },
	{ "completion_tokens_details", offsetof(struct usage, completion_details) },
	{ 0 },
};

struct usage_details {
	struct span cached;
	struct span reasoning;
};

static const struct jsonpick usage_detail_members[] = {
	{ "cached_tokens", offsetof(struct usage_details, cached) },
	{ "reasoning_tokens", offsetof(struct usage_details, reasoning) },
	{ 0 },
};

/* What did not come is absent, and never zero. */
static int take_usage(struct decoder *d, struct span object)
{
	struct usage u = { 0 };
	struct usage_details details = { 0 };
	long long counts[MODEL_COUNTS];
	long long reasoning;
	int r;

	if (!jsonpick_is(object, '{'))
		return 0;
	r = jsonpick_object(object, usage_members, &u);
	if (r == 0)
		r = jsonpick_object(u.prompt_details, usage_detail_members, &details);
	if (r == 0)
		r = jsonpick_object(u.completion_details, usage_detail_members, &details);
	if (r < 0)
		return r;
	reasoning = jsonpick_count(details.reasoning);
	counts[MODEL_COUNT_PROMPT] = jsonpick_count(u.prompt);
	counts[MODEL_COUNT_CANDIDATES] = jsonpick_count(u.completion);
	counts[MODEL_COUNT_TOTAL] = jsonpick_count(u.total);
	counts[MODEL_COUNT_CACHED] = jsonpick_count(details.cached);
	counts[MODEL_COUNT_THOUGHTS] = reasoning;
	/* xAI counts the reasoning beside the completion: its sum shows it. */
	if (reasoning > 0 && counts[MODEL_COUNT_CANDIDATES] >= reasoning &&
	    counts[MODEL_COUNT_PROMPT] + counts[MODEL_COUNT_CANDIDATES] ==
		    counts[MODEL_COUNT_TOTAL])
		counts[MODEL_COUNT_CANDIDATES] -= reasoning;
	return model_reply_usage(d->reply, counts);
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
	struct span raw; /* in metadata: what the server behind a gateway said */
};

static const struct jsonpick error_members[] = {
	{ "message", offsetof(struct error, message) },
	{ "metadata", offsetof(struct error, metadata) },
	{ "raw", offsetof(struct error, raw) },
	{ 0 },
};

static bool error_text(struct span token, struct buf *message)
{
	return jsonpick_is(token, '"') && token.len > 2 && json_unquote(token, message) == 0;
}

static bool chunk_error(const struct chunk *c, struct buf *message)
{
	struct error e = { 0 };

	if (jsonpick_object(c->error, error_members, &e) < 0 ||
	    jsonpick_object(e.metadata, error_members, &e) < 0)
		return false;
	return error_text(e.raw, message) || error_text(e.message, message) ||
	       error_text(c->error, message) || error_text(c->message, message) ||
	       error_text(c->detail, message);
}

static int report_error(struct decoder *d, const struct chunk *c, struct span payload)
{
	CLEANUP(buf_release) struct buf message = { 0 };

	if (!chunk_error(c, &message))
		buf_span_add(&message, span_sub(payload, 0, MIN(payload.len, QUOTE_MAX)));
	if (!buf_cstr(&message))
		return -ENOMEM;
	return err_set(d->err, -EIO, "the model service reported an error: %s", message.data);
}

static int take_model(struct decoder *d, struct span token)
{
	buf_clear(&d->text);
	if (!jsonpick_is(token, '"') || span_is(token, "\"\"") || d->reply->model_version)
		return 0;
	if (json_unquote(token, &d->text) < 0)
		return -ENOMEM;
	d->reply->model_version = span_dup(buf_span(&d->text));
	return d->reply->model_version ? 0 : -ENOMEM;
}

static int take_chunk(struct decoder *d, struct span payload)
{
	struct chunk c = { 0 };
	int r = jsonpick_object(payload, chunk_members, &c);

	if (r < 0)
		return r;
	if (jsonpick_present(c.error) || span_is(c.object, "\"error\""))
		return report_error(d, &c, payload);
	r = take_model(d, c.model);
	if (r == 0)
		r = jsonpick_list(c.choices, take_choice, d);
	return r < 0 ? r : take_usage(d, c.usage);
}

/* Whether the text is one JSON object. */
static int check_object(struct span text)
{
	struct json_scan s = json_scan_of(text, JSON_DEPTH_EVENT, NULL);
	struct span value;
	int r = json_peek(&s);

	if (r != '{')
		return r < 0 ? r : -EINVAL;
	r = json_raw(&s, &value);
	return r < 0 ? r : json_end(&s);
}

void *openai_decoder_new(void)
{
	return calloc(1, sizeof(struct decoder));
}

void openai_decoder_free(void *decoder)
{
	struct decoder *d = decoder;

	if (!d)
		return;
	openai_calls_release(&d->calls);
	buf_release(&d->text);
	buf_release(&d->mended);
	buf_release(&d->finish);
	free(d);
}

/* Each error that has no sentence yet gets one. */
static int explain(struct decoder *d, int r, struct span event)
{
	if (r == -ENOMEM)
		return err_nomem(d->err);
	if (r == -ENODATA)
		return err_set(d->err, -EPROTO, BROKE_OFF);
	if (r == -EINVAL)
		return err_set(d->err, -EPROTO,
			       "the model service sent what is no JSON object: %.*s",
			       (int)MIN(event.len, QUOTE_MAX), event.data);
	return r;
}

int openai_decode(void *decoder, struct span event, struct model_reply *reply, struct err *err)
{
	struct decoder *d = decoder;
	struct span payload = event;
	int r;

	if (d->done)
		return 0;
	if (span_is(event, OPENAI_END_MARK)) {
		d->done = true;
		return 0;
	}
	d->reply = reply;
	d->err = err;
	d->marked = surrogate_lone(event);
	if (d->marked) {
		buf_clear(&d->mended);
		surrogate_mark(event, &d->mended);
		payload = buf_span(&d->mended);
	}
	r = buf_check(&d->mended, NULL);
	if (r == 0)
		r = check_object(payload);
	if (r == 0)
		r = take_chunk(d, payload);
	/* What a broken connection left of an event behind the finish reason is no loss. */
	if (r == -ENODATA && d->finished)
		return 0;
	return r < 0 ? explain(d, r, event) : 0;
}

/* Halves that still wait for the other one are orphans now. */
static int finish_texts(struct decoder *d)
{
	struct {
		struct surrogate_joint *joint;
		bool thought;
	} texts[] = { { &d->thought, true }, { &d->content, false }, { &d->refusal, false } };
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < ARRAY_SIZE(texts); i++) {
		buf_clear(&d->text);
		surrogate_finish(texts[i].joint, &d->text);
		r = model_reply_text(d->reply, buf_span(&d->text), texts[i].thought);
	}
	return r;
}

static const struct finish {
	const char *word; /* the server's; NULL ends the table and is any other */
	const char *reason;
	const char *why_empty; /* said when no content came */
} finishes[] = {
	{ "stop", "STOP", NULL },
	{ "tool_calls", "STOP", NULL },
	{ "function_call", "STOP", NULL },
	{ "", "FINISH_REASON_UNSPECIFIED", NULL },
	{ OPENAI_FINISH_LENGTH, "MAX_TOKENS",
	  "the limit of tokens was reached before any content" },
	{ "content_filter", "SAFETY", "a filter of the provider stopped the answer" },
	{ NULL, "OTHER", "the model ended without content" },
};

static int finish_reason(struct decoder *d)
{
	const struct finish *f = finishes;
	int r;

	while (f->word && !span_is(buf_span(&d->finish), f->word))
		f++;
	r = model_reply_finish(d->reply, f->reason);
	if (r < 0 || d->reply->content || !f->why_empty)
		return r;
	return model_reply_error(d->reply, f->reason, f->why_empty);
}

int openai_end(void *decoder, struct model_reply *reply, struct err *err)
{
	struct decoder *d = decoder;
	int r;

	d->reply = reply;
	d->err = err;
	r = finish_texts(d);
	if (r == 0 && !d->finished && !d->done && !d->whole)
		return err_set(err, -EPROTO, BROKE_OFF);
	if (r == 0)
		r = openai_calls_finish(&d->calls, buf_span(&d->finish), reply, err);
	if (r == 0)
		r = finish_reason(d);
	return r == -ENOMEM ? err_nomem(err) : r;
}

bool openai_error_message(struct span body, struct buf *message)
{
	CLEANUP(buf_release) struct buf mended = { 0 };
	struct chunk c = { 0 };

	surrogate_drop(body, &mended);
	if (buf_check(&mended, NULL) < 0 || check_object(buf_span(&mended)) < 0 ||
	    jsonpick_object(buf_span(&mended), chunk_members, &c) < 0)
		return false;
	return chunk_error(&c, message);
}
