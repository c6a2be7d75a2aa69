/*
 * UTF-8: see utf8.h.
 */
#include "base/utf8.h"

/* Length of the character at p; 0: invalid; -1: cut off by the end. */
static int character_length(const unsigned char *p, size_t left)
{
	unsigned lead = p[0];
	int len = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
	int i;

	if (lead > 0xf4)
		return 0;
	for (i = 1; i < len; i++) {
		if ((size_t)i >= left)
			return -1;
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		if (i > 1)
			continue;
		if ((lead == 0xe0 && p[1] < 0xa0) || (lead == 0xed && p[1] > 0x9f) ||
		    (lead == 0xf0 && p[1] < 0x90) || (lead == 0xf4 && p[1] > 0x8f))
			return 0;
	}
	return len;
}

size_t utf8_prefix(struct span text, bool *cut)
{
	const unsigned char *p = (const unsigned char *)text.data;
	size_t at = 0;
	int n = 1;

	while (at < text.len) {
		n = p[at] < 0x80 ? 1 : character_length(p + at, text.len - at);
		if (n <= 0)
			break;
		at += (size_t)n;
	}
	if (cut)
		*cut = n < 0;
	return at;
}

bool utf8_is_valid(struct span text)
{
	return utf8_prefix(text, NULL) == text.len;
}

uint32_t utf8_take(struct span *text)
{
	const unsigned char *p = (const unsigned char *)text->data;
	int len = character_length(p, text->len);
	uint32_t c = len <= 0 ? UTF8_INVALID : len == 1 ? p[0] : p[0] & (0x7fu >> len);
	int i;

	for (i = 1; i < len; i++)
		c = c << 6 | (p[i] & 0x3f);
	*text = span_sub(*text, (size_t)MAX(len, 1), text->len);
	return c;
}

size_t utf8_encode(uint32_t c, char bytes[UTF8_LEN_MAX])
{
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	size_t i;

	for (i = n - 1; i > 0; i--, c >>= 6)
		bytes[i] = (char)(0x80 | (c & 0x3f));
	bytes[0] = (char)(n == 1 ? c : (0xf00u >> n) | c);
	return n;
}

void utf8_put(struct buf *out, uint32_t c)
{
	char bytes[UTF8_LEN_MAX];

	buf_add(out, bytes, utf8_encode(c, bytes));
}
