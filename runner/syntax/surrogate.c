/*
 * Surrogates: see surrogate.h.
 */
#include "runner/syntax/surrogate.h"

#include "base/char.h"
#include "base/json_text.h"
#include "base/utf8.h"

#define ESCAPE_LEN  6       /* \ud83d */
#define PRIVATE_LEN 4       /* U+FD800 to U+FDFFF in UTF-8 */
#define PRIVATE_AT  0xf0000 /* added to a half, makes its private character */

/* The surrogate in an escape at p; 0: no such escape. */
static unsigned half_at(const char *p, const char *end)
{
	unsigned value = 0;
	int i;

	if (end - p < ESCAPE_LEN || p[0] != '\\' || p[1] != 'u')
		return 0;
	for (i = 2; i < ESCAPE_LEN; i++) {
		int digit = char_hex(p[i]);

		if (digit < 0)
			return 0;
		value = value * 16 + (unsigned)digit;
	}
	return value >= 0xd800 && value <= 0xdfff ? value : 0;
}

static bool is_high(unsigned half)
{
	return half >= 0xd800 && half <= 0xdbff;
}

static bool is_low(unsigned half)
{
	return half >= 0xdc00;
}

/* Find the next lone half from p on; *half is its value. NULL: none. */
static const char *next_lone(const char *p, const char *end, unsigned *half)
{
	while (p < end && (p = memchr(p, '\\', (size_t)(end - p)))) {
		*half = half_at(p, end);
		if (!*half)
			p += 2;
		else if (is_high(*half) && is_low(half_at(p + ESCAPE_LEN, end)))
			p += 2 * ESCAPE_LEN;
		else
			return p;
	}
	return NULL;
}

static void put_private(unsigned half, struct buf *out)
{
	utf8_put(out, PRIVATE_AT + half);
}

static void put_escape(unsigned half UNUSED, struct buf *out)
{
	buf_text(out, "\\ufffd");
}

static void replace_lone(struct span json, void (*put)(unsigned half, struct buf *out),
			 struct buf *out)
{
	const char *at = json.data;
	const char *end = json.data + json.len;
	const char *lone;
	unsigned half;

	while ((lone = next_lone(at, end, &half))) {
		buf_add(out, at, (size_t)(lone - at));
		put(half, out);
		at = lone + ESCAPE_LEN;
	}
	buf_add(out, at, (size_t)(end - at));
}

bool surrogate_lone(struct span json)
{
	unsigned half;

	return next_lone(json.data, json.data + json.len, &half) != NULL;
}

void surrogate_mark(struct span json, struct buf *out)
{
	replace_lone(json, put_private, out);
}

void surrogate_drop(struct span json, struct buf *out)
{
	replace_lone(json, put_escape, out);
}

/* The half in a private character at the start of a text; 0: no such character. */
static unsigned private_at(struct span text)
{
	uint32_t c = utf8_take(&text);

	return c >= PRIVATE_AT + 0xd800 && c <= PRIVATE_AT + 0xdfff ? c - PRIVATE_AT : 0;
}

void surrogate_finish(struct surrogate_joint *joint, struct buf *out)
{
	if (joint->high)
		buf_text(out, UTF8_REPLACEMENT);
	joint->high = 0;
}

static void joint_take(struct surrogate_joint *joint, unsigned half, struct buf *out)
{
	if (is_high(half)) {
		surrogate_finish(joint, out);
		joint->high = half;
	} else if (joint->high) {
		utf8_put(out, 0x10000 + ((joint->high - 0xd800) << 10) + (half - 0xdc00));
		joint->high = 0;
	} else {
		buf_text(out, UTF8_REPLACEMENT);
	}
}

/* Append a piece without halves. */
static void joint_pass(struct surrogate_joint *joint, struct span piece, struct buf *out)
{
	if (!piece.len)
		return;
	surrogate_finish(joint, out);
	buf_span_add(out, piece);
}

void surrogate_join(struct surrogate_joint *joint, struct span piece, struct buf *out)
{
	while (piece.len) {
		const char *lead = memchr(piece.data, 0xf3, piece.len);
		size_t n = lead ? (size_t)(lead - piece.data) : piece.len;
		unsigned half;

		joint_pass(joint, span_sub(piece, 0, n), out);
		piece = span_sub(piece, n, piece.len);
		if (!piece.len)
			break;
		half = private_at(piece);
		if (half)
			joint_take(joint, half, out);
		else
			joint_pass(joint, span_sub(piece, 0, 1), out);
		piece = span_sub(piece, half ? PRIVATE_LEN : 1, piece.len);
	}
}

int surrogate_unquote(struct surrogate_joint *joint, struct span token, bool marked,
		      struct buf *out)
{
	CLEANUP(buf_release) struct buf raw = { 0 };
	int r = json_unquote(token, &raw);

	if (r < 0)
		return r;
	if (marked)
		surrogate_join(joint, buf_span(&raw), out);
	else
		joint_pass(joint, buf_span(&raw), out);
	return buf_check(out, NULL);
}
