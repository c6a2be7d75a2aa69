/*
 * The provider "ollama": the chat of Ollama's own protocol, on this machine or
 * in its cloud. This file makes the request as a whole.
 */
#include "runner/model_ollama.h"

#include "runner/http.h"
#include "runner/jsonput.h"
#include "runner/model_settings.h"

#include <errno.h>

#define SETTING_KEY "OLLAMA_API_KEY"

static int put_headers(const char *key, struct http_request *out, struct err *err)
{
	int r = http_request_header(out, "Content-Type: application/json");

	if (r == 0)
		r = http_request_header(out, "Accept: application/x-ndjson");
	if (r < 0 || !key)
		return r;
	r = http_request_header(out, "Authorization: Bearer %s", key);
	return r == -EINVAL ? err_set(err, r, "%s holds a control character", SETTING_KEY) : r;
}

/* A server of one's own needs no key. */
static int check_key(const char *key, bool cloud, struct err *err)
{
	if (key || !cloud)
		return 0;
	return model_key_missing(&model_ollama, err);
}

static int put_body(const struct model_request *rq, struct buf *out, struct err *err)
{
	int r;

	buf_char(out, '{');
	jsonput_text(out, "model", span_of(rq->name));
	buf_text(out, ",\"stream\":true");
	r = ollama_messages(rq, out, err);
	if (r == 0)
		r = ollama_tools(rq, out, err);
	if (r == 0)
		r = ollama_config(rq, out, err);
	buf_char(out, '}');
	return r < 0 ? r : buf_check(out, NULL);
}

static int ollama_encode(const struct model_request *rq, struct http_request *out, struct err *err)
{
	const char *key = settings_get(rq->settings, SETTING_KEY);
	bool cloud;
	int r = ollama_address(settings_get(rq->settings, OLLAMA_HOST), &out->url, &cloud, err);

	if (r < 0)
		return r;
	buf_text(&out->url, "/api/chat");
	r = put_headers(key, out, err);
	if (r == 0)
		r = put_body(rq, &out->body, err);
	if (r == 0)
		r = check_key(key, cloud,
			      err); /* last: what cannot be sent is told without one too */
	if (r == 0)
		r = buf_check(&out->url, NULL);
	return r == -ENOMEM ? err_nomem(err) : r;
}

static const char *const spellings[] = { "ollama_chat", NULL };

static const struct model_setting settings[] = {
	{ SETTING_KEY, MODEL_KEY },
	{ OLLAMA_HOST, MODEL_PLAIN },
	{ 0 },
};

static const struct model_alias aliases[] = { { "base_url", "OLLAMA_HOST" }, { 0 } };

const struct model_provider model_ollama = {
	.name = OLLAMA_NAME,
	.spellings = spellings,
	.settings = settings,
	.aliases = aliases,
	.framing = MODEL_NDJSON,
	.encode = ollama_encode,
	.decoder_new = ollama_decoder_new,
	.decode = ollama_decode,
	.end = ollama_end,
	.decoder_free = ollama_decoder_free,
	.error_message = ollama_error_message,
	.review = ollama_review,
};
