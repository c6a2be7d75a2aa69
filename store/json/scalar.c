/*
 * Scalars: see scalar.h.
 */
#include "store/json/scalar.h"

#include "store/json/base64.h"
#include "store/json/time.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#define ID_MAX 255 /* bytes */

static int take_string(struct json_scan *s, struct buf *out, size_t limit)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	int r = json_take_string(s, &text);

	if (r < 0)
		return r;
	if (text.len > limit)
		return json_fail(s, "longer than %zu bytes", limit);
	if (limit < SIZE_MAX && memchr(text.data ? text.data : "", 0, text.len))
		return json_fail(s, "a NUL in an id");
	json_quote(out, buf_span(&text));
	return 0;
}

static int take_bool(struct json_scan *s, struct buf *out)
{
	int kind = json_peek(s);

	if (kind >= 0 && kind != 't' && kind != 'f')
		return json_fail(s, "expected true or false");
	return kind < 0 ? kind : json_canonical(s, out);
}

/* Take the token of a number, which may be written as a string. */
static int number_token(struct json_scan *s, struct buf *scratch, struct span *token)
{
	int kind = json_peek(s);
	int r;

	if (kind < 0)
		return kind;
	if (kind == '0')
		return json_raw(s, token);
	if (kind != '"')
		return json_fail(s, "expected a number");
	r = json_take_string(s, scratch);
	*token = buf_span(scratch);
	return r;
}

static int take_int(struct json_scan *s, struct buf *out)
{
	CLEANUP(buf_release) struct buf scratch = { 0 };
	struct span token;
	char text[JSON_NUMBER_MAX + 1];
	char *end;
	long long value;
	int r = number_token(s, &scratch, &token);

	if (r < 0)
		return r;
	if (!token.len || token.len >= sizeof text || memchr(token.data, 0, token.len))
		return json_fail(s, "expected an integer");
	memcpy(text, token.data, token.len);
	text[token.len] = 0;
	errno = 0;
	value = strtoll(text, &end, 10);
	if (*end == '.' && end[1] == '0')
		end += 1 + strspn(end + 1, "0");
	if (!isdigit((unsigned char)text[text[0] == '-']) || *end || errno ||
	    isspace((unsigned char)text[0]) || text[0] == '+')
		return json_fail(s, "expected an integer");
	buf_printf(out, "%lld", value);
	return 0;
}

static int take_time(struct json_scan *s, struct buf *out)
{
	CLEANUP(buf_release) struct buf scratch = { 0 };
	struct span token;
	int64_t usec;
	int r = number_token(s, &scratch, &token);

	if (r < 0)
		return r;
	if (time_parse(token, &usec) < 0)
		return json_fail(s, "expected a time in seconds since 1970");
	time_print(out, usec);
	return 0;
}

static int take_bytes(struct json_scan *s, struct buf *out)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	CLEANUP(buf_release) struct buf bytes = { 0 };
	int r = json_take_string(s, &text);

	if (r < 0)
		return r;
	r = base64_decode(buf_span(&text), &bytes);
	if (r < 0)
		return r == -ENOMEM ? err_nomem(s->err) : json_fail(s, "bad base64");
	buf_char(out, '"');
	base64_encode(out, buf_span(&bytes), BASE64_URL_SAFE);
	buf_char(out, '"');
	return 0;
}

static int take_upper(struct json_scan *s, struct buf *out)
{
	static const char *const known[] = {
		"STOP",
		"MAX_TOKENS",
		"SAFETY",
		"RECITATION",
		"LANGUAGE",
		"OTHER",
		"BLOCKLIST",
		"PROHIBITED_CONTENT",
		"SPII",
		"MALFORMED_FUNCTION_CALL",
		"IMAGE_SAFETY",
		"UNEXPECTED_TOOL_CALL",
		"TOO_MANY_TOOL_CALLS",
		"IMAGE_PROHIBITED_CONTENT",
		"NO_IMAGE",
		"IMAGE_RECITATION",
		"IMAGE_OTHER",
		"FINISH_REASON_UNSPECIFIED",
	};
	CLEANUP(buf_release) struct buf word = { 0 };
	int r = json_take_string(s, &word);
	size_t i;

	if (r < 0)
		return r;
	for (i = 0; i < ARRAY_SIZE(known); i++) {
		if (word.len == strlen(known[i]) && !strncasecmp(word.data, known[i], word.len)) {
			buf_printf(out, "\"%s\"", known[i]);
			return 0;
		}
	}
	json_quote(out, buf_span(&word));
	return 0;
}

static bool has_any(const char *from, const char *to, const char *characters)
{
	while (from < to && !strchr(characters, *from))
		from++;
	return from < to;
}

static int take_route(struct json_scan *s, struct buf *out)
{
	int kind = json_peek(s);
	const char *from = s->at;
	int r;

	if (kind < 0)
		return kind;
	if (kind == '{' || kind == '[' || kind == 'n')
		return json_fail(s, "expected a bool, an integer, a string or a list of them");
	r = json_canonical(s, out);
	if (r == 0 && kind == '0' && has_any(from, s->at, ".eE"))
		return json_fail(s, "expected an integer");
	return r;
}

static int take_number(struct json_scan *s, struct buf *out)
{
	int kind = json_peek(s);

	if (kind >= 0 && kind != '0')
		return json_fail(s, "expected a number");
	return kind < 0 ? kind : json_canonical(s, out);
}

int scalar_take(struct json_scan *s, enum field_kind kind, struct buf *out)
{
	switch (kind) {
	case FIELD_STRING:
		return take_string(s, out, SIZE_MAX);
	case FIELD_ID:
		return take_string(s, out, ID_MAX);
	case FIELD_BOOL:
		return take_bool(s, out);
	case FIELD_NUMBER:
		return take_number(s, out);
	case FIELD_INT:
		return take_int(s, out);
	case FIELD_TIME:
		return take_time(s, out);
	case FIELD_BYTES:
		return take_bytes(s, out);
	case FIELD_UPPER:
		return take_upper(s, out);
	case FIELD_ROUTE:
		return take_route(s, out);
	default:
		return json_fail(s, "a field of an unknown kind");
	}
}
