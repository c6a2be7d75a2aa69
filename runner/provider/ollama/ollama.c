/*
 * The provider "ollama": the chat of Ollama's own protocol, on this machine or
 * in its cloud. This file makes the request as a whole.
 */
#include "runner/provider/ollama/ollama.h"

#include "base/net/http.h"
#include "runner/syntax/json_put.h"
#include "runner/wire/endpoint.h"
#include "runner/wire/key.h"

#include <errno.h>

#define SETTING_KEY "OLLAMA_API_KEY"

static const struct model_header key_header = { SETTING_KEY, "Authorization", "Bearer ", NULL };

static int put_headers(const struct settings *settings, struct http_request *out, struct err *err)
{
	int r = model_headers_begin(&model_ollama, out);

	return r < 0 ? r : model_header_add(settings, &key_header, out, err);
}

static int put_body(const struct question *q, struct buf *out, struct err *err)
{
	int r;

	buf_char(out, '{');
	jsonput_text(out, "model", span_of(q->name));
	buf_text(out, ",\"stream\":true");
	r = ollama_messages(q, out, err);
	if (r == 0)
		r = ollama_tools(q, out, err);
	if (r == 0)
		r = ollama_config(q, out, err);
	buf_char(out, '}');
	return r < 0 ? r : buf_check(out, NULL);
}

static int ollama_encode(const struct question *q, struct http_request *out, struct err *err)
{
	bool cloud;
	int r = ollama_address(settings_get(q->settings, OLLAMA_HOST), &out->url, &cloud, err);

	if (r < 0)
		return r;
	buf_text(&out->url, "/api/chat");
	r = put_headers(q->settings, out, err);
	if (r == 0)
		r = put_body(q, &out->body, err);
	/* Last: what cannot be sent is reported even without a key. Only the cloud needs one. */
	if (r == 0 && cloud && !model_key(&model_ollama, q->settings))
		r = model_key_missing(&model_ollama, err);
	if (r == 0)
		r = buf_check(&out->url, NULL);
	return r;
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
	.decoder = &ollama_decoder,
	.error_message = ollama_error_message,
	.review = ollama_review,
};
