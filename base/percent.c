/*
 * Percent encoding: see percent.h.
 */
#include "base/percent.h"

#include "base/char.h"

#include <errno.h>

void percent_byte(struct buf *out, char c)
{
	buf_printf(out, "%%%02X", (unsigned char)c);
}

void percent_encode(struct buf *out, struct span text, const char *also)
{
	static const char unreserved[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
					 "0123456789-._~";
	size_t i;

	for (i = 0; i < text.len; i++) {
		char c = text.data[i];

		if (c && (strchr(unreserved, c) || strchr(also, c)))
			buf_char(out, c);
		else
			percent_byte(out, c);
	}
}

int percent_decode(struct span text, struct buf *out)
{
	size_t i;

	for (i = 0; i < text.len; i++) {
		char c = text.data[i];

		if (c == '%') {
			int high = i + 2 < text.len ? char_hex(text.data[i + 1]) : -1;
			int low = i + 2 < text.len ? char_hex(text.data[i + 2]) : -1;

			if (high < 0 || low < 0)
				return -EINVAL;
			c = (char)(high << 4 | low);
			i += 2;
		}
		if (!c)
			return -EINVAL;
		buf_char(out, c);
	}
	return buf_check(out, NULL);
}
