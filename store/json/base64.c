/*
 * Base64: see base64.h.
 */
#include "store/json/base64.h"

#include <errno.h>

static int base64_value(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '+' || c == '-')
		return 62;
	return c == '/' || c == '_' ? 63 : -1;
}

int base64_decode(struct span text, struct buf *out)
{
	bool standard = memchr(text.data, '+', text.len) || memchr(text.data, '/', text.len);
	bool url_safe = memchr(text.data, '-', text.len) || memchr(text.data, '_', text.len);
	size_t len = text.len;
	size_t i;

	if (!text.len)
		return 0;
	if (standard && url_safe)
		return -EINVAL;
	if (len % 4 == 0 && text.data[len - 1] == '=')
		len -= text.data[len - 2] == '=' ? 2 : 1;
	if (len % 4 == 1 || !buf_reserve(out, len / 4 * 3 + 3))
		return out->failed ? -ENOMEM : -EINVAL;
	for (i = 0; i < len; i += 4) {
		size_t n = MIN(len - i, 4);
		unsigned group = 0;
		size_t k;

		for (k = 0; k < 4; k++) {
			int v = k < n ? base64_value(text.data[i + k]) : 0;

			if (v < 0)
				return -EINVAL;
			group = group << 6 | (unsigned)v;
		}
		for (k = 0; k + 1 < n; k++)
			buf_char(out, (char)(group >> (16 - 8 * k)));
	}
	return 0;
}

void base64_encode(struct buf *out, struct span bytes, enum base64_alphabet alphabet)
{
	static const char common[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
	const char *tail = alphabet == BASE64_URL_SAFE ? "-_" : "+/";
	size_t i;

	if (!buf_reserve(out, (bytes.len + 2) / 3 * 4))
		return;
	for (i = 0; i < bytes.len; i += 3) {
		size_t n = MIN(bytes.len - i, 3);
		unsigned group = 0;
		size_t k;

		for (k = 0; k < 3; k++)
			group = group << 8 | (k < n ? (unsigned char)bytes.data[i + k] : 0u);
		for (k = 0; k < 4; k++) {
			unsigned v = group >> (18 - 6 * k) & 63;

			out->data[out->len++] = k > n ? '=' : v < 62 ? common[v] : tail[v - 62];
		}
	}
}

void base64_put_standard(struct buf *out, struct span text)
{
	size_t i = out->len;

	buf_span_add(out, text);
	for (; i < out->len; i++) {
		if (out->data[i] == '-')
			out->data[i] = '+';
		else if (out->data[i] == '_')
			out->data[i] = '/';
	}
}
