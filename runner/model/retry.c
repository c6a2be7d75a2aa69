/*
 * Failures of model services: see retry.h.
 */
#include "runner/model/retry.h"

#include "base/clock.h"
#include "base/json_text.h"
#include "runner/wire/key.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#define WAIT_MAX_MS    60000u /* a server cannot make us wait longer */
#define BODY_QUOTE_MAX 200    /* bytes of an unknown body in an error */
#define PATH_QUOTE_MAX 80     /* bytes of a path in an error */

static const struct status_text {
	int status;
	int r;
	const char *text; /* before the status in brackets */
} status_texts[] = {
	{ 400, -EINVAL, "the model service did not accept the request" },
	{ 402, -EACCES, "the model service requires payment" },
	{ 403, -EACCES, "the model service does not allow this" },
	{ 407, -EACCES, "the proxy requires a user and a password" },
	{ 413, -EFBIG, "the request is too large for the model service" },
	{ 422, -EINVAL, "the model service did not accept the request" },
	{ 429, -EBUSY, "the model service limits the number of requests" },
};

/* Whether the body of an error says that the key is invalid. */
static bool blames_key(struct span body)
{
	static const char word[] = "\"API_KEY_INVALID\"";

	return memmem(body.data, body.len, word, sizeof word - 1) != NULL;
}

bool model_key_refused(const struct http_answer *answer)
{
	return answer->status == 401 || blames_key(buf_span(&answer->error_body));
}

/* Report status 404: a wrong name, or an address that lacks something such as "/v1". */
static int say_unknown(const struct question *q, const struct http_request *sent,
		       const struct secrets *secrets, struct err *err)
{
	CLEANUP(buf_release) struct buf path = { 0 };

	http_request_path(sent, &path);
	secrets_mask(secrets, &path);
	if (!buf_cstr(&path))
		return err_nomem(err);
	return err_set(err, -ENOENT,
		       "the model service does not know the model %.60s or the path %.*s%s (404)",
		       q->name, PATH_QUOTE_MAX, path.data, path.len > PATH_QUOTE_MAX ? "..." : "");
}

static int say_status(const struct http_answer *answer, const struct question *q,
		      const struct http_request *sent, const struct secrets *secrets,
		      struct err *err)
{
	const char *key = model_key_name(q->provider, q->settings);
	int status = answer->status;
	size_t i;

	if (model_key_refused(answer) && key && model_key(q->provider, q->settings))
		return err_set(err, -EACCES, "the key in %s was refused (%d)", key, status);
	if (status == 401 && key)
		return err_set(err, -EACCES,
			       "the model service requires a key (401), and %s is not set", key);
	if (status == 404)
		return say_unknown(q, sent, secrets, err);
	for (i = 0; i < ARRAY_SIZE(status_texts); i++) {
		if (status_texts[i].status == status)
			return err_set(err, status_texts[i].r, "%s (%d)", status_texts[i].text,
				       status);
	}
	return err_set(err, -EIO, "the model service answered %d", status);
}

/* Quote the start of an unknown body, such as the error page of a proxy. */
static void quote_body(struct span body, struct buf *message)
{
	CLEANUP(buf_release) struct buf quoted = { 0 };

	while (body.len && isspace((unsigned char)body.data[body.len - 1]))
		body.len--;
	json_quote_lossy(&quoted, span_sub(body, 0, MIN(body.len, BODY_QUOTE_MAX)));
	if (buf_check(&quoted, NULL) < 0 || json_unquote(buf_span(&quoted), message) < 0)
		buf_clear(message);
}

int model_refused(const struct question *q, const struct http_request *sent,
		  const struct http_answer *answer, struct err *err)
{
	CLEANUP(buf_release) struct buf message = { 0 };
	struct span body = buf_span(&answer->error_body);
	struct secrets secrets = { 0 };
	struct err status = { 0 };

	model_secrets(q->provider, q->settings, &secrets);
	(void)say_status(answer, q, sent, &secrets, &status);
	if (!q->provider->error_message(body, &message))
		quote_body(body, &message);
	secrets_mask(&secrets, &message);
	if (!message.len || !buf_cstr(&message))
		return err_set(err, status.code, "%s", status.text);
	return err_set(err, status.code, "%s: %s", status.text, message.data);
}

/* Whether the body of an error says that asking again is useless. */
static bool is_final(const struct http_answer *answer)
{
	static const char *const words[] = { "\"insufficient_quota\"", "\"billing_error\"" };
	struct span body = buf_span(&answer->error_body);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		if (memmem(body.data, body.len, words[i], strlen(words[i])))
			return true;
	}
	return false;
}

static bool is_passing(int status)
{
	static const int passing[] = { 408, 409, 429, 500, 502, 503, 504, 529 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(passing); i++) {
		if (passing[i] == status)
			return true;
	}
	return false;
}

bool model_may_retry(const struct http_answer *answer, int r)
{
	if (answer->got_body || r == -ECANCELED)
		return false;
	if (answer->status >= 400) {
		if (strcasecmp(answer->should_retry, "true") == 0)
			return true;
		if (strcasecmp(answer->should_retry, "false") == 0)
			return false;
		return is_passing(answer->status) && !is_final(answer);
	}
	return r == -ECONNREFUSED || r == -ECONNRESET || r == -EPROTO;
}

/* "2", "0.5" or an HTTP date, in milliseconds; below 0: neither. */
static double parse_wait(const char *text, double unit)
{
	struct tm tm = { 0 };
	char *end;
	double value;

	if (isdigit((unsigned char)*text)) {
		value = strtod(text, &end) * unit;
		return *end || !(value >= 0) ? -1 : value;
	}
	end = *text ? strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &tm) : NULL;
	if (!end || *end)
		return -1;
	value = (double)(timegm(&tm) - clock_now() / USEC_PER_SEC) * 1000;
	return MAX(value, 0);
}

static double random_fraction(void)
{
	uint32_t bits = 0;

	/* Without random bits the wait is simply the longest one. */
	if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != sizeof bits)
		return 0;
	return (double)bits / UINT32_MAX;
}

unsigned model_retry_wait(const struct model_provider *provider, const struct http_answer *answer,
			  unsigned n)
{
	double ms = parse_wait(answer->retry_after_ms, 1);

	if (ms < 0)
		ms = parse_wait(answer->retry_after, 1000);
	if (ms < 0 && provider->wait_hint && answer->error_body.len)
		ms = provider->wait_hint(buf_span(&answer->error_body));
	if (ms < 0)
		ms = MIN(500.0 * (1u << MIN(n, 10)), 8000.0) * (1 - random_fraction() / 4);
	return (unsigned)MIN(ms, WAIT_MAX_MS);
}
