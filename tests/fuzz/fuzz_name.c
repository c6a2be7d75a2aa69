/*
 * Names: every id has one file name and every file name one id.
 */
#include "base/name.h"
#include "base/utf8.h"
#include "fuzz.h"

#include <errno.h>

static void check_code(int r, const struct err *err)
{
	CHECK(r == 0 || r == -EINVAL || r == -ENAMETOOLONG);
	CHECK(err->code == r);
}

static void as_id(struct span id, enum name_style style)
{
	CLEANUP(buf_release) struct buf name = { 0 };
	CLEANUP(buf_release) struct buf back = { 0 };
	struct err err = { 0 };
	int r = name_encode(id, style, &name, &err);

	check_code(r, &err);
	CHECK(r != -EINVAL || !id.len || !utf8_is_valid(id));
	if (r < 0)
		return;
	CHECK(name.len && name.len <= NAME_LEN_MAX);
	CHECK(!memchr(name.data, '/', name.len) && !memchr(name.data, 0, name.len));
	CHECK(!span_is(buf_span(&name), ".") && !span_is(buf_span(&name), ".."));
	CHECK(style == NAME_PLAIN || name.data[0] != '.');
	CHECK(name_decode(buf_span(&name), style, &back, NULL) == 0);
	CHECK(span_equal(buf_span(&back), id));
}

static void as_name(struct span name, enum name_style style)
{
	CLEANUP(buf_release) struct buf id = { 0 };
	CLEANUP(buf_release) struct buf back = { 0 };
	struct err err = { 0 };
	int r = name_decode(name, style, &id, &err);

	check_code(r, &err);
	if (r < 0)
		return;
	CHECK(name_encode(buf_span(&id), style, &back, NULL) == 0);
	CHECK(span_equal(buf_span(&back), name));
}

/* Two ids of one name are one id. */
static void as_two_ids(struct span first, struct span second, enum name_style style)
{
	CLEANUP(buf_release) struct buf one = { 0 };
	CLEANUP(buf_release) struct buf two = { 0 };

	if (name_encode(first, style, &one, NULL) < 0 || name_encode(second, style, &two, NULL) < 0)
		return;
	CHECK(span_equal(buf_span(&one), buf_span(&two)) == span_equal(first, second));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = { (const char *)data, size };

	as_id(text, NAME_PLAIN);
	as_id(text, NAME_HIDE_DOT);
	as_name(text, NAME_PLAIN);
	as_name(text, NAME_HIDE_DOT);
	as_two_ids(span_sub(text, 0, size / 2), span_sub(text, size / 2, size), NAME_PLAIN);
	as_two_ids(span_sub(text, 0, size / 2), span_sub(text, size / 2, size), NAME_HIDE_DOT);
	return 0;
}
