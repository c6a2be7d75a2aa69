/*
 * Playing cassettes: the line of an attempt becomes the answer of a service. See cassette.h.
 */
#include "runner/model/cassette.h"

#include "base/json_text.h"
#include "runner/model/ask.h"
#include "store/json/base64.h"

#include <errno.h>
#include <stdlib.h>

static const int errors[] = { EHOSTUNREACH, ECONNREFUSED, ECONNRESET, ETIMEDOUT, EIO,
			      EINVAL,       ENOMEM,       EPROTO,     EMSGSIZE };

static int take_string(struct span object, const char *name, struct buf *out)
{
	struct span token;

	buf_clear(out);
	if (json_member(object, name, &token) < 0)
		return -ENOENT;
	return json_unquote(token, out) < 0 || !buf_cstr(out) ? -EINVAL : 0;
}

/* Fail as the recorded connection did. 0: it did not fail. */
static int play_error(struct span line, struct err *err)
{
	CLEANUP(buf_release) struct buf name = { 0 };
	CLEANUP(buf_release) struct buf text = { 0 };
	struct span error;
	size_t i = 0;

	if (json_member(line, "error", &error) < 0)
		return 0;
	if (error.data[0] != '{' || take_string(error, "errno", &name) < 0 ||
	    take_string(error, "text", &text) < 0)
		return err_set(err, -EIO, "the connection failed");
	while (i < ARRAY_SIZE(errors) && strcmp(err_name(errors[i]), name.data) != 0)
		i++;
	return err_set(err, i < ARRAY_SIZE(errors) ? -errors[i] : -EIO, "%s", text.data);
}

static const struct kept_header {
	const char *name;
	size_t at;
	size_t size;
} kept_headers[] = {
#define KEPT(text, member)                                                                         \
	{                                                                                          \
		text, offsetof(struct http_answer, member),                                        \
			sizeof((struct http_answer *)0)->member                                    \
	}
	KEPT("content-type", content_type),
	KEPT("retry-after", retry_after),
	KEPT("retry-after-ms", retry_after_ms),
	KEPT("x-should-retry", should_retry),
#undef KEPT
};

void cassette_headers(const struct http_answer *answer, struct buf *out)
{
	const char *before = "{";
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kept_headers); i++) {
		const char *value = (const char *)answer + kept_headers[i].at;

		if (!*value)
			continue;
		buf_printf(out, "%s\"%s\":", before, kept_headers[i].name);
		json_quote_lossy(out, span_of(value));
		before = ",";
	}
	buf_text(out, *before == '{' ? "{}" : "}");
}

static void play_headers(struct span line, struct http_answer *answer)
{
	CLEANUP(buf_release) struct buf value = { 0 };
	struct span headers;
	size_t i;

	if (json_member(line, "headers", &headers) < 0 || headers.data[0] != '{')
		return;
	for (i = 0; i < ARRAY_SIZE(kept_headers); i++) {
		char *out = (char *)answer + kept_headers[i].at;

		if (take_string(headers, kept_headers[i].name, &value) == 0 &&
		    value.len < kept_headers[i].size)
			memcpy(out, value.data, value.len + 1);
	}
}

static int piece_bytes(struct json_scan *s, struct buf *out)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	struct span value;
	int r = json_raw(s, &value);

	if (r < 0)
		return r;
	if (value.data[0] != '{')
		return json_unquote(value, out);
	r = take_string(value, "base64", &text);
	return r < 0 ? r : base64_decode(buf_span(&text), out);
}

/* The receiver of the pieces. */
struct sink {
	const struct cassette_player *player;
	struct cancel *cancel;
	struct http_answer *answer;
	unsigned ms; /* since the request */
	struct err *err;
};

static int play_piece(struct sink *sink, struct span ms_text, struct span bytes)
{
	unsigned ms = (unsigned)strtoul(ms_text.data, NULL, 10);
	bool is_answer = sink->answer->status >= 200 && sink->answer->status <= 299;
	struct buf *body = &sink->answer->error_body;
	int r = 0;

	if (sink->player->paced && ms > sink->ms)
		r = cancel_wait(sink->cancel, ms - sink->ms, sink->err);
	sink->ms = MAX(ms, sink->ms);
	if (r < 0)
		return r;
	if (!is_answer) {
		buf_add(body, bytes.data, MIN(bytes.len, HTTP_ERROR_BODY_MAX - body->len));
		return buf_check(body, sink->err);
	}
	sink->answer->got_body = true;
	return sink->answer->on_body(sink->answer->arg, bytes);
}

/* [[MS, BYTES], ...] */
static int play_pieces(struct sink *sink, struct span pieces)
{
	struct json_scan s = json_scan_of(pieces, CASSETTE_DEPTH, sink->err);
	CLEANUP(buf_release) struct buf bytes = { 0 };
	bool first = true;
	int r = json_open(&s, '[');

	while (r == 0 && (r = json_item(&s, &first)) == 1) {
		bool first_inside = true;
		struct span ms = SPAN("0");

		buf_clear(&bytes);
		r = json_open(&s, '[');
		if (r == 0 && (r = json_item(&s, &first_inside)) == 1)
			r = json_raw(&s, &ms);
		if (r == 0 && (r = json_item(&s, &first_inside)) == 1)
			r = piece_bytes(&s, &bytes);
		if (r == 0 && json_item(&s, &first_inside) != 0)
			r = -EINVAL;
		if (r == 0)
			r = play_piece(sink, ms, buf_span(&bytes));
	}
	return r;
}

int cassette_play(const struct cassette_player *player, unsigned attempt, struct cancel *cancel,
		  struct http_answer *answer, struct err *err)
{
	struct sink sink = { player, cancel, answer, 0, err };
	struct span pieces;
	struct span status;
	struct span line;
	int r;

	if (cancel_fired(cancel))
		return err_set(err, -ECANCELED, "cancelled");
	r = cassette_attempt(player, attempt, &line, err);
	if (r < 0)
		return r;
	if (json_member(line, "status", &status) == 0)
		answer->status = (int)strtol(status.data, NULL, 10);
	play_headers(line, answer);
	if (json_member(line, "pieces", &pieces) < 0)
		return play_error(line, err);
	r = play_pieces(&sink, pieces);
	if (r == -EINVAL && err && !err->code)
		return err_set(
			err, r,
			"the cassette has pieces that are not of the form [[MS, TEXT], ...]");
	return r ? r : play_error(line, err);
}
