/*
 * Events: a line that is accepted is accepted again as it is stored, and gives
 * the same bytes.
 */
#include "fuzz.h"
#include "store/json/event.h"

#include <errno.h>

static int canonical(struct span line, struct buf *out)
{
	CLEANUP(event_release) struct event e = { 0 };
	struct err err = { 0 };
	int r = event_from_json(line, &e, &err);

	CHECK(r == 0 || r == -EINVAL || r == -EFBIG);
	CHECK((err.code < 0) == (r < 0) && !err.text[0] == !r);
	if (r < 0)
		return r;
	event_to_json(&e, out);
	CHECK(!memchr(out->data, '\n', out->len));
	CHECK(event_check(&e, NULL) == 0);
	return 0;
}

/* What a model would be told of it can be built, and is stable as well. */
static void check_content(struct span line)
{
	CLEANUP(event_release) struct event e = { 0 };
	CLEANUP(content_free_p) struct content *content = NULL;
	CLEANUP(content_free_p) struct content *copy = NULL;
	CLEANUP(buf_release) struct buf first = { 0 };
	CLEANUP(buf_release) struct buf second = { 0 };

	CHECK(event_from_json(line, &e, NULL) == 0);
	if (!event_json(&e, EVENT_CONTENT).len)
		return;
	CHECK(content_from_json(event_json(&e, EVENT_CONTENT), &content, NULL) == 0);
	content_to_json(content, &first);
	copy = content_copy(content);
	CHECK(copy);
	content_to_json(copy, &second);
	CHECK(span_equal(buf_span(&first), buf_span(&second)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span line = { (const char *)data, size };
	CLEANUP(buf_release) struct buf once = { 0 };
	CLEANUP(buf_release) struct buf twice = { 0 };

	if (canonical(line, &once) < 0)
		return 0;
	CHECK(canonical(buf_span(&once), &twice) == 0);
	CHECK(span_equal(buf_span(&once), buf_span(&twice)));
	check_content(buf_span(&once));
	return 0;
}
