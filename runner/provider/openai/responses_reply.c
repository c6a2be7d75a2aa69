/*
 * Answers of OpenAI Responses: we handle the events that bring text, an item or the end. A
 * server that does not stream sends what the last event would hold.
 */
#include "runner/provider/openai/responses.h"

#include "base/json_text.h"
#include "runner/provider/openai/openai.h"

#include <errno.h>
#include <stdlib.h>

#define END_MARK "[DONE]" /* some gateways send it; it means nothing */

#define REASON_COMPLETED  "completed"
#define REASON_MAX_TOKENS "max_output_tokens"

struct event {
	struct span type;
	struct span output_index;
	struct span summary_index;
	struct span content_index;
	struct span delta;
	struct span arguments;
	struct span item;
	struct span response;
	struct span error;
	struct span message;
	struct span object;
	struct span whole; /* the event itself */
};

static const struct jsonpick event_members[] = {
	{ "type", offsetof(struct event, type) },
	{ "output_index", offsetof(struct event, output_index) },
	{ "summary_index", offsetof(struct event, summary_index) },
	{ "content_index", offsetof(struct event, content_index) },
	{ "delta", offsetof(struct event, delta) },
	{ "arguments", offsetof(struct event, arguments) },
	{ "item", offsetof(struct event, item) },
	{ "response", offsetof(struct event, response) },
	{ "error", offsetof(struct event, error) },
	{ "message", offsetof(struct event, message) },
	{ "object", offsetof(struct event, object) },
	{ 0 },
};

static int take_open(struct responses_decoder *d, const struct event *e)
{
	return responses_item_open(d, jsonpick_count(e->output_index), e->item);
}

static int take_close(struct responses_decoder *d, const struct event *e)
{
	return responses_item_close(d, jsonpick_count(e->output_index), e->item);
}

static int take_text(struct responses_decoder *d, const struct event *e)
{
	struct responses_item *item;
	int r = responses_item(d, jsonpick_count(e->output_index), &item);

	if (r < 0)
		return r;
	item->heard = true;
	return model_decode_text(&d->base, e->delta, &d->texts.content, MODEL_SPOKEN);
}

static int take_refusal(struct responses_decoder *d, const struct event *e)
{
	struct responses_item *item;
	int r = responses_item(d, jsonpick_count(e->output_index), &item);

	if (r < 0)
		return r;
	item->heard = true;
	return model_decode_text(&d->base, e->delta, &d->texts.refusal, MODEL_SPOKEN);
}

/* Take a thought; each section of a summary is a paragraph. */
static int take_section(struct responses_decoder *d, const struct event *e, struct span section)
{
	struct responses_item *item;
	long long before;
	int r = responses_item(d, jsonpick_count(e->output_index), &item);

	if (r < 0)
		return r;
	before = item->section;
	item->heard = true;
	item->section = jsonpick_count(section);
	if (before >= 0 && item->section != before)
		r = model_reply_text(d->base.reply, SPAN("\n\n"), true);
	return r < 0 ? r : model_decode_text(&d->base, e->delta, &d->texts.thought, MODEL_THOUGHT);
}

static int take_summary(struct responses_decoder *d, const struct event *e)
{
	return take_section(d, e, e->summary_index);
}

static int take_thought(struct responses_decoder *d, const struct event *e)
{
	return take_section(d, e, e->content_index);
}

static int take_arguments(struct responses_decoder *d, const struct event *e)
{
	struct model_call *call = model_calls_find(&d->calls, jsonpick_count(e->output_index));

	return call ? model_call_args(call, e->delta, d->base.marked) : 0;
}

static int take_all_arguments(struct responses_decoder *d, const struct event *e)
{
	return responses_item_arguments(d, jsonpick_count(e->output_index), e->arguments);
}

struct failure {
	struct span message;
};

static const struct jsonpick failure_members[] = {
	{ "message", offsetof(struct failure, message) },
	{ 0 },
};

/* Report an error, which is an object with a message, or a text. */
static int report_error(struct responses_decoder *d, struct span error, struct span payload)
{
	CLEANUP(buf_release) struct buf message = { 0 };
	struct failure f = { 0 };
	bool found;
	int r = jsonpick_object(error, failure_members, &f);

	if (r < 0)
		return r;
	found = model_decode_string(f.message, &message) || model_decode_string(error, &message);
	return model_decode_error(&d->base, found ? &message : NULL, payload);
}

static int take_error(struct responses_decoder *d, const struct event *e)
{
	return report_error(d, jsonpick_present(e->error) ? e->error : e->message, e->whole);
}

struct response {
	struct span status;
	struct span model;
	struct span error;
	struct span incomplete_details;
	struct span output;
	struct span usage;
	struct span reason; /* in incomplete_details */
};

static const struct jsonpick response_members[] = {
	{ "status", offsetof(struct response, status) },
	{ "model", offsetof(struct response, model) },
	{ "error", offsetof(struct response, error) },
	{ "incomplete_details", offsetof(struct response, incomplete_details) },
	{ "output", offsetof(struct response, output) },
	{ "usage", offsetof(struct response, usage) },
	{ 0 },
};

static const struct jsonpick detail_members[] = {
	{ "reason", offsetof(struct response, reason) },
	{ 0 },
};

static int read_response(struct responses_decoder *d, struct span json, struct response *out)
{
	int r = jsonpick_object(json, response_members, out);

	if (r == 0)
		r = jsonpick_object(out->incomplete_details, detail_members, out);
	return r < 0 ? r : model_decode_version(&d->base, out->model);
}

static int take_begin(struct responses_decoder *d, const struct event *e)
{
	struct response response = { 0 };

	return read_response(d, e->response, &response);
}

static int take_output(void *arg, struct span item)
{
	struct responses_decoder *d = arg;

	return responses_item_close(d, d->next++, item);
}

/* End the answer. If no whole item has come before, all items come now. */
static int take_end(struct responses_decoder *d, const struct response *response, const char *word)
{
	int r = responses_are_open(d) ? jsonpick_list(response->output, take_output, d) : 0;

	if (r == 0)
		r = openai_usage_take(&d->base, openai_responses_usage, response->usage);
	buf_clear(&d->reason);
	if (r == 0 && d->partial && jsonpick_is(response->reason, '"'))
		r = json_unquote(response->reason, &d->reason);
	if (!d->reason.len)
		buf_text(&d->reason, word);
	return r < 0 ? r : buf_check(&d->reason, NULL);
}

static int take_completed(struct responses_decoder *d, const struct event *e)
{
	struct response response = { 0 };
	int r = read_response(d, e->response, &response);

	return r < 0 ? r : take_end(d, &response, REASON_COMPLETED);
}

static int take_incomplete(struct responses_decoder *d, const struct event *e)
{
	struct response response = { 0 };
	int r = read_response(d, e->response, &response);

	d->partial = true;
	return r < 0 ? r : take_end(d, &response, "incomplete");
}

static int take_failed(struct responses_decoder *d, const struct event *e)
{
	struct response response = { 0 };
	int r = read_response(d, e->response, &response);

	return r < 0 ? r : report_error(d, response.error, e->whole);
}

static const struct handler {
	const char *name;
	int (*take)(struct responses_decoder *d, const struct event *e);
} handlers[] = {
	{ "created", take_begin },
	{ "output_item.added", take_open },
	{ "output_item.done", take_close },
	{ "output_text.delta", take_text },
	{ "refusal.delta", take_refusal },
	{ "reasoning_summary_text.delta", take_summary },
	{ "reasoning_text.delta", take_thought },
	{ "function_call_arguments.delta", take_arguments },
	{ "function_call_arguments.done", take_all_arguments },
	{ "completed", take_completed },
	{ "incomplete", take_incomplete },
	{ "failed", take_failed },
	{ "cancelled", take_failed },
};

/* Types are "response.NAME"; a whole answer has its status in place of a name. */
static int handle(struct responses_decoder *d, struct span name, const struct event *e)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(handlers); i++) {
		if (span_is(name, handlers[i].name))
			return handlers[i].take(d, e);
	}
	return 0;
}

static int take_whole(struct responses_decoder *d, struct event *e)
{
	CLEANUP(buf_release) struct buf status = { 0 };
	struct response response = { 0 };
	int r = jsonpick_object(e->whole, response_members, &response);

	if (r == 0 && jsonpick_is(response.status, '"'))
		r = json_unquote(response.status, &status);
	e->response = e->whole;
	return r < 0 ? r : handle(d, buf_span(&status), e);
}

static int take_event(struct responses_decoder *d, struct span payload)
{
	CLEANUP(buf_release) struct buf type = { 0 };
	struct event e = { .whole = payload };
	struct span prefix = SPAN("response.");
	int r = jsonpick_object(payload, event_members, &e);

	if (r == 0 && jsonpick_is(e.type, '"'))
		r = json_unquote(e.type, &type);
	if (r < 0)
		return r;
	if (span_is(e.object, "\"response\""))
		return take_whole(d, &e);
	if (span_is(buf_span(&type), "error") || (!type.len && jsonpick_present(e.error)))
		return take_error(d, &e);
	if (type.len < prefix.len || memcmp(type.data, prefix.data, prefix.len) != 0)
		return 0;
	return handle(d, span_sub(buf_span(&type), prefix.len, type.len), &e);
}

static void decoder_release(void *decoder)
{
	struct responses_decoder *d = decoder;

	model_calls_release(&d->calls);
	buf_release(&d->items);
	buf_release(&d->reason);
}

static int decode(void *decoder, struct span event)
{
	struct responses_decoder *d = decoder;
	struct span payload;
	int r;

	if (d->reason.len || span_is(event, END_MARK))
		return 0;
	r = model_decode_begin(&d->base, event, "{", &payload);
	if (r == 0)
		r = take_event(d, payload);
	return r;
}

static const struct model_finish finishes[] = {
	{ REASON_COMPLETED, "STOP", NULL },
	{ REASON_MAX_TOKENS, "MAX_TOKENS", "the limit of tokens was reached before any content" },
	{ "content_filter", "SAFETY", "a filter of the provider stopped the answer" },
	{ NULL, "OTHER", "the model ended without content" },
};

static int end(void *decoder)
{
	struct responses_decoder *d = decoder;
	int r;

	r = model_decode_texts_end(&d->base, &d->texts);
	if (r == 0 && !d->reason.len)
		return -ENODATA;
	if (r == 0)
		r = responses_calls_finish(d);
	if (r == 0)
		r = model_decode_finish(&d->base, finishes, buf_span(&d->reason));
	return r;
}

const struct model_decoder responses_decoder = { sizeof(struct responses_decoder), decode, end,
						 decoder_release };
