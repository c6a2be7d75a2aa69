/*
 * Answers of a model service (FUZZ_PROVIDER): the same bytes mean the same,
 * however they are cut, and an answer that fails makes no call.
 */
#include "base/net/stream.h"
#include "fuzz.h"
#include "runner/model/ask.h"
#include "runner/wire/decode.h"

/* One answer, decoded. */
struct outcome {
	struct model_decode *decoder;
	struct model_reply reply;
	struct err err;
	struct buf heard;
	int r;
};

static const struct model_provider *const provider = &FUZZ_PROVIDER;

static void hear(void *arg, struct span text, bool thought)
{
	struct outcome *o = arg;

	buf_char(&o->heard, thought ? 't' : 's');
	buf_span_add(&o->heard, text);
}

static int decode(void *arg, struct span event)
{
	struct outcome *o = arg;

	return model_decode_event(o->decoder, event);
}

static enum stream_kind kind_of(struct span bytes)
{
	if (provider->framing == MODEL_NDJSON)
		return STREAM_NDJSON;
	return bytes.len && strchr("{[", bytes.data[0]) ? STREAM_WHOLE : STREAM_SSE;
}

/* In pieces whose sizes follow from the seed; 0: all at once. */
static void run(struct outcome *o, struct span bytes, unsigned seed)
{
	struct stream s;

	*o = (struct outcome){ .reply = { .on_text = hear, .arg = o } };
	o->decoder = model_decode_new(provider, &o->reply, &o->err);
	stream_init(&s, kind_of(bytes));
	while (o->r == 0 && bytes.len) {
		size_t n = seed ? 1 + seed % 7 : bytes.len;

		n = MIN(n, bytes.len);
		o->r = stream_feed(&s, span_sub(bytes, 0, n), decode, o);
		bytes = span_sub(bytes, n, bytes.len);
		seed = seed ? (seed * 1103515245u + 12345u) | 1 : 0;
	}
	if (o->r == 0)
		o->r = stream_end(&s, decode, o);
	if (o->r == 0)
		o->r = model_decode_end(o->decoder);
	stream_release(&s);
	model_decode_free(o->decoder);
}

static void outcome_release(struct outcome *o)
{
	model_reply_release(&o->reply);
	buf_release(&o->heard);
}

/* Everything that came of it, as text. */
static void describe(const struct outcome *o, struct buf *out)
{
	const struct model_reply *r = &o->reply;
	size_t i;

	buf_printf(out, "%d %s %s %s %s ", o->r, o->err.text,
		   r->finish_reason ? r->finish_reason : "", r->error_code ? r->error_code : "",
		   r->error_message ? r->error_message : "");
	if (r->content)
		content_to_json(r->content, out);
	buf_span_add(out, buf_span(&r->usage));
	for (i = 0; i < MODEL_EXTRAS; i++)
		buf_span_add(out, buf_span(&r->extras[i]));
	buf_span_add(out, buf_span(&o->heard));
	CHECK(!out->failed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span bytes = { (const char *)data, size };
	CLEANUP(outcome_release) struct outcome whole;
	CLEANUP(outcome_release) struct outcome cut;
	CLEANUP(buf_release) struct buf one = { 0 };
	CLEANUP(buf_release) struct buf other = { 0 };
	CLEANUP(buf_release) struct buf message = { 0 };

	run(&whole, bytes, 0);
	run(&cut, bytes, size ? data[size / 2] + 1u : 1);
	describe(&whole, &one);
	describe(&cut, &other);
	CHECK(span_equal(buf_span(&one), buf_span(&other)));
	CHECK(whole.r == 0 || !whole.reply.content || !content_has(whole.reply.content, PART_CALL));
	CHECK(whole.r == 0 || *whole.err.text);
	(void)provider->error_message(bytes, &message);
	if (provider->wait_hint)
		(void)provider->wait_hint(bytes);
	return 0;
}
