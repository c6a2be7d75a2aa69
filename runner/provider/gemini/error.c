/*
 * Errors of Gemini: {"error":{"code":429,"message":"...","status":"...","details":[...]}},
 * alone or as the first item of a list.
 */
#include "runner/provider/gemini/gemini.h"

#include "base/json_text.h"
#include "runner/wire/decode.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

struct error {
	struct span error;
	struct span message;
	struct span status;
	struct span details;
};

static const struct jsonpick error_members[] = {
	{ "error", offsetof(struct error, error) },
	{ "message", offsetof(struct error, message) },
	{ "status", offsetof(struct error, status) },
	{ "details", offsetof(struct error, details) },
	{ 0 },
};

static bool pick(struct span object, struct error *e)
{
	return jsonpick_object(object, error_members, e) == 0 &&
	       jsonpick_object(e->error, error_members, e) == 0;
}

bool gemini_error_text(struct span object, struct buf *message)
{
	struct error e = { 0 };

	return pick(object, &e) &&
	       (model_decode_string(e.message, message) || model_decode_string(e.status, message) ||
		model_decode_string(e.error, message));
}

static int take_first(void *arg, struct span item)
{
	*(struct span *)arg = item;
	return 1;
}

/* Find the error object in a body; the text is in *mended. */
static bool find_object(struct span body, struct buf *mended, struct span *object)
{
	if (!model_error_json(body, "{[", mended))
		return false;
	*object = buf_span(mended);
	while (object->len && isspace((unsigned char)*object->data))
		*object = span_sub(*object, 1, object->len);
	if (jsonpick_is(*object, '{'))
		return true;
	return jsonpick_list(*object, take_first, object) == 1 && jsonpick_is(*object, '{');
}

bool gemini_error_message(struct span body, struct buf *message)
{
	CLEANUP(buf_release) struct buf mended = { 0 };
	struct span object;

	return find_object(body, &mended, &object) && gemini_error_text(object, message);
}

struct detail {
	struct span type;
	struct span delay;
};

static const struct jsonpick detail_members[] = {
	{ "@type", offsetof(struct detail, type) },
	{ "retryDelay", offsetof(struct detail, delay) },
	{ 0 },
};

/* Read "34.4s"; below 0: another form. */
static double seconds_of(struct span token)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	char *end;
	double value;

	if (!model_decode_string(token, &text) || !buf_cstr(&text) ||
	    !isdigit((unsigned char)*text.data))
		return -1;
	value = strtod(text.data, &end);
	return strcmp(end, "s") == 0 ? value : -1;
}

static int take_detail(void *arg, struct span item)
{
	static const char retry_info[] = "RetryInfo\"";
	const size_t n = sizeof retry_info - 1;
	struct detail d = { 0 };
	double *seconds = arg;

	if (jsonpick_object(item, detail_members, &d) < 0)
		return 0;
	if (d.type.len > n && memcmp(d.type.data + d.type.len - n, retry_info, n) == 0)
		*seconds = seconds_of(d.delay);
	return *seconds >= 0;
}

double gemini_wait_hint(struct span body)
{
	CLEANUP(buf_release) struct buf mended = { 0 };
	struct error e = { 0 };
	struct span object;
	double seconds = -1;

	if (!find_object(body, &mended, &object) || !pick(object, &e) ||
	    jsonpick_list(e.details, take_detail, &seconds) < 0)
		return -1;
	return seconds < 0 ? -1 : seconds * 1000;
}
