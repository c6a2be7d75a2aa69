/*
 * Percent encoding: see percent.h.
 */
#include "base/percent.h"

#include <ctype.h>
#include <errno.h>

/* -1: no digit. */
static int hex_value(char c)
{
	if (!isxdigit((unsigned char)c))
		return -1;
	return isdigit((unsigned char)c) ? c - '0' : (c | 32) - 'a' + 10;
}

int percent_decode(struct span text, struct buf *out)
{
	size_t i;

	for (i = 0; i < text.len; i++) {
		char c = text.data[i];

		if (c == '%') {
			int high = i + 2 < text.len ? hex_value(text.data[i + 1]) : -1;
			int low = i + 2 < text.len ? hex_value(text.data[i + 2]) : -1;

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
