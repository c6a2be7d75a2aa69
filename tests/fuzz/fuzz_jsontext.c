/*
 * JSON as text: whatever comes is canonical after one pass, or refused; and a
 * text that may go on is never called wrong.
 */
#include "base/json_text.h"
#include "base/utf8.h"
#include "fuzz.h"

#include <errno.h>

static int canonical(struct span text, struct buf *out)
{
	struct err err = { 0 };
	int r = json_canonical_text(text, JSON_DEPTH_FREE, out, &err);

	CHECK(r == 0 || r == -EINVAL || r == -ENODATA);
	CHECK(err.code == r);
	return r;
}

static int raw(struct span text)
{
	struct json_scan s = json_scan_of(text, JSON_DEPTH_FREE, NULL);
	struct span value;
	int r = json_raw(&s, &value);

	return r < 0 ? r : json_end(&s);
}

static void check_quote(struct span text)
{
	CLEANUP(buf_release) struct buf quoted = { 0 };
	CLEANUP(buf_release) struct buf back = { 0 };

	json_quote_lossy(&quoted, text);
	CHECK(json_unquote(buf_span(&quoted), &back) == 0);
	CHECK(utf8_is_valid(buf_span(&back)));
	if (!utf8_is_valid(text))
		return;
	CHECK(span_equal(buf_span(&back), text));
	buf_clear(&back);
	CHECK(canonical(buf_span(&quoted), &back) == 0);
	CHECK(span_equal(buf_span(&back), buf_span(&quoted)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = { (const char *)data, size };
	CLEANUP(buf_release) struct buf once = { 0 };
	CLEANUP(buf_release) struct buf twice = { 0 };
	CLEANUP(buf_release) struct buf part = { 0 };
	int r = canonical(text, &once);

	CHECK(raw(text) == r);
	if (r == 0) {
		CHECK(canonical(buf_span(&once), &twice) == 0);
		CHECK(span_equal(buf_span(&once), buf_span(&twice)));
	}
	if (r != -EINVAL && size)
		CHECK(canonical(span_sub(text, 0, data[0] * 7919u % size), &part) != -EINVAL);
	check_quote(text);
	return 0;
}
