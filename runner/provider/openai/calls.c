/*
 * Calls in answers of OpenAI chat completions: put together from pieces that
 * every server numbers and names in its own way.
 */
#include "runner/provider/openai/openai.h"

#include "base/json_text.h"
#include "store/json/base64.h"

#include <errno.h>

/* A piece of a call. All members except the arguments are decoded. */
struct piece {
	long long index;
	struct buf id;
	struct buf name;
	struct span arguments;
	struct buf signature; /* base64 of the signature's text */
};

static void piece_release(struct piece *p)
{
	buf_release(&p->id);
	buf_release(&p->name);
	buf_release(&p->signature);
}

struct piece_spans {
	struct span index;
	struct span id;
	struct span function;
	struct span extra;
};

static const struct jsonpick piece_members[] = {
	{ "index", offsetof(struct piece_spans, index) },
	{ "id", offsetof(struct piece_spans, id) },
	{ "function", offsetof(struct piece_spans, function) },
	{ "extra_content", offsetof(struct piece_spans, extra) },
	{ 0 },
};

struct extra {
	struct span google;
	struct span signature;
};

static const struct jsonpick extra_members[] = {
	{ "google", offsetof(struct extra, google) },
	{ "thought_signature", offsetof(struct extra, signature) },
	{ 0 },
};

int openai_signature(struct span extra_content, struct buf *text)
{
	struct extra outer = { 0 };
	struct extra inner = { 0 };
	int r = jsonpick_object(extra_content, extra_members, &outer);

	if (r == 0)
		r = jsonpick_object(outer.google, extra_members, &inner);
	if (r == 0 && jsonpick_is(inner.signature, '"'))
		r = json_unquote(inner.signature, text);
	return r;
}

static int read_signature(struct span extra_content, struct piece *p)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	int r = openai_signature(extra_content, &text);

	if (r == 0 && text.len)
		base64_encode(&p->signature, buf_span(&text), BASE64_STANDARD);
	return r < 0 ? r : buf_check(&p->signature, NULL);
}

static int read_piece(struct span item, struct piece *p)
{
	struct piece_spans spans = { 0 };
	struct model_call_spans function = { 0 };
	int r = jsonpick_object(item, piece_members, &spans);

	if (r == 0)
		r = jsonpick_object(spans.function, model_function_members, &function);
	if (r == 0 && jsonpick_is(spans.id, '"'))
		r = json_unquote(spans.id, &p->id);
	if (r == 0 && jsonpick_is(function.name, '"'))
		r = json_unquote(function.name, &p->name);
	if (r == 0)
		r = read_signature(spans.extra, p);
	p->index = jsonpick_count(spans.index);
	p->arguments = function.args;
	return r;
}

/*
 * Find the call of a piece without an index. A new id begins a call, and so does a name without
 * an id; a piece with neither belongs to the last call. NULL: a new call.
 */
static struct model_call *call_without_index(const struct model_calls *calls, const struct piece *p)
{
	struct model_call *last = calls->count ? &calls->list[calls->count - 1] : NULL;

	if (!last)
		return NULL;
	if (p->id.len)
		return span_equal(buf_span(&last->id), buf_span(&p->id)) ? last : NULL;
	return p->name.len ? NULL : last;
}

static bool has_other_id(const struct model_call *c, const struct piece *p)
{
	return p->id.len && c->id.len && !span_equal(buf_span(&c->id), buf_span(&p->id));
}

/*
 * Find the call of a piece; NULL: a new call. The index is a key and not a position. Some servers
 * number all calls 0: then a new id with a name begins the next call.
 */
static struct model_call *call_of(const struct model_calls *calls, const struct piece *p)
{
	size_t i;

	if (p->index < 0)
		return call_without_index(calls, p);
	for (i = calls->count; i-- > 0;) {
		struct model_call *c = &calls->list[i];

		if (c->key == p->index)
			return has_other_id(c, p) && p->name.len ? NULL : c;
	}
	return NULL;
}

/* Take the texts of a piece; an empty text changes nothing. */
static int take_texts(struct model_call *c, const struct piece *p)
{
	if (p->id.len) {
		buf_clear(&c->id);
		buf_span_add(&c->id, buf_span(&p->id));
	}
	if (p->name.len) {
		buf_clear(&c->name);
		buf_span_add(&c->name, buf_span(&p->name));
	}
	if (p->signature.len) {
		buf_clear(&c->signature);
		buf_span_add(&c->signature, buf_span(&p->signature));
	}
	return c->id.failed || c->name.failed || c->signature.failed ? -ENOMEM : 0;
}

int openai_calls_take(struct model_calls *calls, struct span item, bool marked, struct err *err)
{
	CLEANUP(piece_release) struct piece p = { 0 };
	struct model_call *c;
	int r = read_piece(item, &p);

	if (r < 0)
		return r;
	c = call_of(calls, &p);
	r = c ? 0 : model_calls_add(calls, p.index, &c, err);
	if (r == 0)
		r = take_texts(c, &p);
	return r < 0 ? r : model_call_args(c, p.arguments, marked);
}
