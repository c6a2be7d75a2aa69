/*
 * Decoding: see decode.h.
 */
#include "runner/wire/decode.h"

#include <errno.h>
#include <stdlib.h>

#define QUOTE_MAX 120 /* bytes of a bad event in an error */

struct model_decode *model_decode_new(const struct model_provider *provider,
				      struct model_reply *reply, struct err *err)
{
	struct model_decode *d = calloc(1, provider->decoder->size);

	if (d)
		*d = (struct model_decode){ .provider = provider, .reply = reply, .err = err };
	return d;
}

void model_decode_free(struct model_decode *d)
{
	if (!d)
		return;
	d->provider->decoder->release(d);
	buf_release(&d->text);
	buf_release(&d->mended);
	free(d);
}

/* Whether the text is one JSON value that begins with a character of `first`. */
static int check_json(struct span text, const char *first)
{
	struct json_scan s = json_scan_of(text, JSON_DEPTH_MAX, NULL);
	struct span value;
	int r = json_peek(&s);

	if (r < 0 || !strchr(first, r))
		return r < 0 ? r : -EINVAL;
	r = json_raw(&s, &value);
	return r < 0 ? r : json_end(&s);
}

int model_decode_begin(struct model_decode *d, struct span event, const char *first,
		       struct span *payload)
{
	d->event = event;
	d->marked = surrogate_lone(event);
	*payload = event;
	if (d->marked) {
		buf_clear(&d->mended);
		surrogate_mark(event, &d->mended);
		if (d->mended.failed)
			return -ENOMEM;
		*payload = buf_span(&d->mended);
	}
	return check_json(*payload, first);
}

/* Errors that have no sentence yet get one here. */
static int decode_failed(struct model_decode *d, int r)
{
	if (r == -ENOMEM)
		return err_nomem(d->err);
	if (r == -ENODATA)
		return err_set(d->err, -EPROTO, "the answer of the model broke off");
	return r;
}

int model_decode_event(struct model_decode *d, struct span event)
{
	int r = d->provider->decoder->decode(d, event);

	if (r == -EINVAL)
		return err_set(d->err, -EPROTO,
			       "the model service sent an event that is not a JSON object: %.*s",
			       (int)MIN(d->event.len, QUOTE_MAX), d->event.data);
	return decode_failed(d, r);
}

int model_decode_end(struct model_decode *d)
{
	return decode_failed(d, d->provider->decoder->end(d));
}

int model_decode_text(struct model_decode *d, struct span token, struct surrogate_joint *joint,
		      enum model_voice voice)
{
	int r;

	if (!jsonpick_is(token, '"'))
		return 0;
	buf_clear(&d->text);
	r = surrogate_unquote(joint, token, d->marked, &d->text);
	return r < 0 ? r : model_reply_text(d->reply, buf_span(&d->text), voice == MODEL_THOUGHT);
}

int model_decode_text_end(struct model_decode *d, struct surrogate_joint *joint,
			  enum model_voice voice)
{
	buf_clear(&d->text);
	surrogate_finish(joint, &d->text);
	return model_reply_text(d->reply, buf_span(&d->text), voice == MODEL_THOUGHT);
}

int model_decode_texts_end(struct model_decode *d, struct model_texts *texts)
{
	int r = model_decode_text_end(d, &texts->thought, MODEL_THOUGHT);

	if (r == 0)
		r = model_decode_text_end(d, &texts->content, MODEL_SPOKEN);
	return r < 0 ? r : model_decode_text_end(d, &texts->refusal, MODEL_SPOKEN);
}

bool model_decode_string(struct span token, struct buf *out)
{
	return jsonpick_is(token, '"') && token.len > 2 && json_unquote(token, out) == 0;
}

int model_decode_version(struct model_decode *d, struct span token)
{
	if (!jsonpick_is(token, '"') || token.len == 2 || d->reply->model_version)
		return 0;
	buf_clear(&d->text);
	if (json_unquote(token, &d->text) < 0)
		return -ENOMEM;
	d->reply->model_version = span_dup(buf_span(&d->text));
	return d->reply->model_version ? 0 : -ENOMEM;
}

int model_decode_error(struct model_decode *d, struct buf *message, struct span payload)
{
	struct buf quote = { 0 };
	int r;

	if (!message || !message->len) {
		buf_span_add(&quote, span_sub(payload, 0, MIN(payload.len, QUOTE_MAX)));
		message = &quote;
	}
	r = buf_cstr(message) ? err_set(d->err, -EIO, "the model service reported an error: %s",
					message->data)
			      : -ENOMEM;
	buf_release(&quote);
	return r;
}

bool model_error_json(struct span body, const char *first, struct buf *mended)
{
	surrogate_drop(body, mended);
	return buf_check(mended, NULL) == 0 && check_json(buf_span(mended), first) == 0;
}

int model_decode_finish(struct model_decode *d, const struct model_finish *table, struct span word)
{
	const struct model_finish *f = table;
	int r;

	while (f->word && !span_is(word, f->word))
		f++;
	r = model_reply_finish(d->reply, f->reason);
	if (r == 0)
		r = model_reply_finish_word(d->reply, word);
	if (r < 0 || d->reply->content || !f->why_empty)
		return r;
	return model_reply_error(d->reply, f->reason, f->why_empty);
}
