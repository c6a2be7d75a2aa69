/*
 * JSON strings that are written: see json_text.h.
 */
#include "base/json_text.h"
#include "base/utf8.h"

void json_quote(struct buf *out, struct span text)
{
	static const char short_form[32] = {
		['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't',
	};
	size_t from = 0;
	size_t i;

	buf_char(out, '"');
	for (i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.data[i];

		if (c >= 0x20 && c != '"' && c != '\\')
			continue;
		buf_add(out, text.data + from, i - from);
		from = i + 1;
		if (c >= 0x20)
			buf_printf(out, "\\%c", c);
		else if (short_form[c])
			buf_printf(out, "\\%c", short_form[c]);
		else
			buf_printf(out, "\\u%04x", c);
	}
	buf_add(out, text.data + from, text.len - from);
	buf_char(out, '"');
}

void json_quote_lossy(struct buf *out, struct span text)
{
	CLEANUP(buf_release) struct buf clean = { 0 };

	while (text.len) {
		size_t good = utf8_prefix(text, NULL);

		buf_add(&clean, text.data, good);
		if (good < text.len) {
			buf_text(&clean, UTF8_REPLACEMENT);
			good++;
		}
		text = span_sub(text, good, text.len);
	}
	out->failed |= clean.failed;
	json_quote(out, buf_span(&clean));
}
