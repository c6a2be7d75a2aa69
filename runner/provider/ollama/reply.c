/*
 * Answers of Ollama: one JSON object per line, or a single object if a server does not
 * stream. Calls come whole, and reach the reply when the answer is complete.
 */
#include "runner/provider/ollama/ollama.h"

#include "base/json_text.h"
#include "runner/wire/calls.h"
#include "runner/wire/decode.h"

#include <errno.h>
#include <stdlib.h>

#define DONE_LENGTH "length"

struct decoder {
	struct model_decode base;
	struct model_texts texts;
	struct model_calls calls;
	struct buf reason; /* the server's word */
	struct buf begun;  /* the first lines of an object on several lines */
	bool done;         /* the end mark came */
};

struct call {
	struct model_call_spans spans; /* name and args are in the function */
	struct span function;
};

static const struct jsonpick call_members[] = {
	{ "id", offsetof(struct call, spans.id) },
	{ "function", offsetof(struct call, function) },
	{ 0 },
};

static int take_call(void *arg, struct span item)
{
	struct decoder *d = arg;
	struct call call = { 0 };
	int r = jsonpick_object(item, call_members, &call);

	if (r == 0)
		r = jsonpick_object(call.function, model_function_members, &call.spans);
	return r < 0 ? r
		     : model_calls_take(&d->calls, (long long)d->calls.count, &call.spans,
					d->base.marked, d->base.err);
}

struct message {
	struct span content;
	struct span thinking;
	struct span tool_calls;
};

static const struct jsonpick message_members[] = {
	{ "content", offsetof(struct message, content) },
	{ "thinking", offsetof(struct message, thinking) },
	{ "tool_calls", offsetof(struct message, tool_calls) },
	{ 0 },
};

static int take_message(struct decoder *d, struct span object)
{
	struct message m = { 0 };
	int r = jsonpick_object(object, message_members, &m);

	if (r == 0)
		r = model_decode_text(&d->base, m.thinking, &d->texts.thought, MODEL_THOUGHT);
	if (r == 0)
		r = model_decode_text(&d->base, m.content, &d->texts.content, MODEL_SPOKEN);
	return r < 0 ? r : jsonpick_list(m.tool_calls, take_call, d);
}

struct line {
	struct span error;
	struct span model;
	struct span message;
	struct span done;
	struct span done_reason;
	struct span prompt_eval_count;
	struct span eval_count;
};

static const struct jsonpick line_members[] = {
	{ "error", offsetof(struct line, error) },
	{ "model", offsetof(struct line, model) },
	{ "message", offsetof(struct line, message) },
	{ "done", offsetof(struct line, done) },
	{ "done_reason", offsetof(struct line, done_reason) },
	{ "prompt_eval_count", offsetof(struct line, prompt_eval_count) },
	{ "eval_count", offsetof(struct line, eval_count) },
	{ 0 },
};

/* A count of zero is absent; thoughts are counted in eval_count. */
static int take_usage(struct decoder *d, const struct line *line)
{
	long long prompt = jsonpick_count(line->prompt_eval_count);
	long long eval = jsonpick_count(line->eval_count);
	const long long counts[MODEL_COUNTS] = {
		[MODEL_COUNT_CACHED] = -1,
		[MODEL_COUNT_CANDIDATES] = eval,
		[MODEL_COUNT_PROMPT] = prompt,
		[MODEL_COUNT_THOUGHTS] = -1,
		[MODEL_COUNT_TOTAL] = prompt < 0 ? eval : prompt + (eval < 0 ? 0 : eval),
	};

	return model_reply_usage(d->base.reply, counts);
}

static int take_done(struct decoder *d, const struct line *line)
{
	if (!span_is(line->done, "true"))
		return 0;
	d->done = true;
	if (jsonpick_is(line->done_reason, '"') && json_unquote(line->done_reason, &d->reason) < 0)
		return -ENOMEM;
	return take_usage(d, line);
}

struct error {
	struct span message;
};

static const struct jsonpick error_members[] = {
	{ "message", offsetof(struct error, message) },
	{ 0 },
};

/* The error is a text; gateways send an object with a message. */
static bool line_error(const struct line *line, struct buf *message)
{
	struct error e = { 0 };

	return jsonpick_object(line->error, error_members, &e) == 0 &&
	       (model_decode_string(line->error, message) ||
		model_decode_string(e.message, message));
}

static int report_error(struct decoder *d, const struct line *line, struct span payload)
{
	CLEANUP(buf_release) struct buf message = { 0 };

	return model_decode_error(&d->base, line_error(line, &message) ? &message : NULL, payload);
}

static int take_line(struct decoder *d, struct span payload)
{
	struct line line = { 0 };
	int r = jsonpick_object(payload, line_members, &line);

	if (r < 0)
		return r;
	if (jsonpick_present(line.error))
		return report_error(d, &line, payload);
	r = model_decode_version(&d->base, line.model);
	if (r == 0)
		r = take_message(d, line.message);
	return r < 0 ? r : take_done(d, &line);
}

static void decoder_release(void *decoder)
{
	struct decoder *d = decoder;

	model_calls_release(&d->calls);
	buf_release(&d->reason);
	buf_release(&d->begun);
}

/* Add a line to an object on several lines. 1: the object ends with this line. */
static int gather(struct decoder *d, struct span line, struct span *event)
{
	buf_span_add(&d->begun, line);
	buf_char(&d->begun, '\n');
	*event = buf_span(&d->begun);
	return d->begun.failed ? -ENOMEM : line.data[0] == '}';
}

static int take_event(struct decoder *d, struct span event)
{
	struct span payload;
	int r = model_decode_begin(&d->base, event, "{", &payload);

	return r < 0 ? r : take_line(d, payload);
}

static int decode(void *decoder, struct span event)
{
	struct decoder *d = decoder;
	int r = 1;

	if (d->done)
		return 0;
	if (d->begun.len)
		r = gather(d, event, &event);
	if (r <= 0)
		return r;
	r = take_event(d, event);
	if (r == -ENODATA && !d->begun.len)
		return gather(d, event, &event) < 0 ? -ENOMEM : 0;
	buf_clear(&d->begun);
	return r;
}

static const struct model_finish finishes[] = {
	{ "stop", "STOP", NULL },
	{ "", "FINISH_REASON_UNSPECIFIED", NULL },
	{ DONE_LENGTH, "MAX_TOKENS", "the limit of tokens was reached before any content" },
	{ "load", "OTHER", "the server only loaded the model" },
	{ "unload", "OTHER", "the server only unloaded the model" },
	{ NULL, "OTHER", "the model ended without content" },
};

static int end(void *decoder)
{
	struct decoder *d = decoder;
	struct span word = buf_span(&d->reason);
	int r;

	r = model_decode_texts_end(&d->base, &d->texts);
	if (r == 0 && !d->done)
		return -ENODATA;
	if (r == 0)
		r = model_calls_finish(&d->calls, span_is(word, DONE_LENGTH), d->base.reply,
				       d->base.err);
	if (r == 0)
		r = model_decode_finish(&d->base, finishes, word);
	return r;
}

const struct model_decoder ollama_decoder = { sizeof(struct decoder), decode, end,
					      decoder_release };

bool ollama_error_message(struct span body, struct buf *message)
{
	CLEANUP(buf_release) struct buf mended = { 0 };
	struct line line = { 0 };

	return model_error_json(body, "{", &mended) &&
	       jsonpick_object(buf_span(&mended), line_members, &line) == 0 &&
	       line_error(&line, message);
}
