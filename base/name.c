/*
 * Names: see name.h.
 */
#include "base/name.h"

#include "base/char.h"
#include "base/percent.h"
#include "base/utf8.h"

#include <errno.h>

static bool must_escape(struct span id, size_t i, enum name_style style)
{
	char c = id.data[i];

	if (c == '%' || c == '/' || c == 0)
		return true;
	if (c != '.')
		return false;
	return (style == NAME_HIDE_DOT && i == 0) || span_is(id, ".") || span_is(id, "..");
}

int name_encode(struct span id, enum name_style style, struct buf *name, struct err *err)
{
	size_t before = name->len;
	size_t i;

	if (!id.len)
		return err_set(err, -EINVAL, "the name is empty");
	if (!utf8_is_valid(id))
		return err_set(err, -EINVAL, "the name is not valid UTF-8");
	for (i = 0; i < id.len; i++) {
		if (must_escape(id, i, style))
			percent_byte(name, id.data[i]);
		else
			buf_char(name, id.data[i]);
	}
	if (name->len - before > NAME_LEN_MAX) {
		name->len = before;
		return err_set(err, -ENAMETOOLONG, "the name is longer than %d bytes",
			       NAME_LEN_MAX);
	}
	return buf_check(name, err);
}

int name_decode(struct span name, enum name_style style, struct buf *id, struct err *err)
{
	CLEANUP(buf_release) struct buf raw = { 0 };
	CLEANUP(buf_release) struct buf again = { 0 };
	size_t i;
	int r;

	if (name.len > NAME_LEN_MAX)
		return err_set(err, -ENAMETOOLONG, "the name is longer than %d bytes",
			       NAME_LEN_MAX);
	for (i = 0; i < name.len; i++) {
		int high;
		int low;

		if (name.data[i] != '%') {
			buf_char(&raw, name.data[i]);
			continue;
		}
		high = i + 2 < name.len ? char_hex_upper(name.data[i + 1]) : -1;
		low = i + 2 < name.len ? char_hex_upper(name.data[i + 2]) : -1;
		if (high < 0 || low < 0)
			return err_set(err, -EINVAL,
				       "'%%' is not followed by two upper-case hex "
				       "digits (write '%%25' for a percent sign)");
		buf_char(&raw, (char)(high * 16 + low));
		i += 2;
	}
	r = name_encode(buf_span(&raw), style, &again, err);
	if (r < 0)
		return r;
	if (!span_equal(buf_span(&again), name))
		return err_set(err, -EINVAL, "the name must be spelled '%.*s'",
			       (int)MIN(again.len, 200), again.data);
	buf_span_add(id, buf_span(&raw));
	return buf_check(id, err);
}
