/*
 * Exchanges: see exchange.h.
 */
#include "runner/model/exchange.h"

#include <ctype.h>
#include <errno.h>

#define ANSWER_MAX (256u << 20) /* bytes of a streamed answer, framing included */

int model_exchange_init(struct model_exchange *x, const struct model_provider *provider,
			struct model_reply *reply, struct err *err)
{
	*x = (struct model_exchange){ .reply = reply, .err = err };
	reply->provider = provider->name;
	x->decoder = model_decode_new(provider, reply, err);
	return x->decoder ? 0 : err_nomem(err);
}

void model_exchange_release(struct model_exchange *x)
{
	model_decode_free(x->decoder);
	stream_release(&x->stream);
}

static int on_event(void *arg, struct span event)
{
	struct model_exchange *x = arg;

	x->heard = true;
	return model_decode_event(x->decoder, event);
}

static int stream_failed(int r, struct err *err)
{
	if (r == -EMSGSIZE)
		return err_set(err, r, "the model service sent an event of more than %u bytes",
			       STREAM_EVENT_MAX);
	return r == -ENOMEM ? err_nomem(err) : r;
}

/* Servers may not stream although we ask for it: the first character tells a document from a
 * stream. */
static void start(struct model_exchange *x, struct span *piece)
{
	enum stream_kind kind = STREAM_NDJSON;

	*piece = span_trim_start(*piece);
	if (!piece->len)
		return;
	if (x->decoder->provider->framing == MODEL_SSE)
		kind = memchr("{[", piece->data[0], 2) ? STREAM_WHOLE : STREAM_SSE;
	stream_init(&x->stream, kind);
	memcpy(x->head, piece->data, MIN(piece->len, MODEL_HEAD_MAX));
	x->started = true;
}

int model_exchange_piece(void *arg, struct span piece)
{
	struct model_exchange *x = arg;

	if (!piece.len && x->reply->on_lull)
		x->reply->on_lull(x->reply->arg);
	x->taken += piece.len;
	if (x->taken > ANSWER_MAX)
		return err_set(x->err, -EMSGSIZE, "the answer is larger than %u bytes", ANSWER_MAX);
	if (!x->started)
		start(x, &piece);
	if (!piece.len)
		return 0;
	return stream_failed(stream_feed(&x->stream, piece, on_event, x), x->err);
}

/* The body holds no event: it may be a page of a gateway. */
static int no_answer(struct model_exchange *x)
{
	size_t n = strlen(x->head);

	while (n && isspace((unsigned char)x->head[n - 1]))
		n--;
	return err_set(x->err, -EPROTO,
		       "the model service sent something other than an answer of a model: %.*s",
		       (int)n, x->head);
}

static int end_stream(struct model_exchange *x)
{
	int r = stream_failed(stream_end(&x->stream, on_event, x), x->err);

	if (r == 0 && x->started && !x->heard)
		return no_answer(x);
	return r ? r : model_decode_end(x->decoder);
}

bool model_exchange_broke(int r)
{
	return r == -ECONNRESET || r == -ETIMEDOUT;
}

int model_exchange_close(struct model_exchange *x, int r)
{
	struct err broken = x->err ? *x->err : (struct err){ 0 };
	int end;

	if (r != 0 && !model_exchange_broke(r))
		return r;
	end = end_stream(x);
	if (end == 0 || r == 0)
		return end;
	if (x->err)
		*x->err = broken;
	return r;
}
