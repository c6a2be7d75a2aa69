/*
 * Streams: the same bytes give the same events, however they are cut. The
 * first byte picks the kind of stream, the second one the cuts.
 */
#include "base/net/stream.h"
#include "fuzz.h"

static int note(void *arg, struct span data)
{
	buf_printf(arg, "%zu:", data.len);
	buf_span_add(arg, data);
	return 0;
}

/* In pieces whose sizes follow from the seed; 0: all at once. */
static void run(struct span bytes, enum stream_kind kind, unsigned seed, struct buf *events)
{
	struct stream s;

	stream_init(&s, kind);
	while (bytes.len) {
		size_t n = seed ? 1 + seed % 7 : bytes.len;

		n = MIN(n, bytes.len);
		CHECK(stream_feed(&s, span_sub(bytes, 0, n), note, events) == 0);
		bytes = span_sub(bytes, n, bytes.len);
		seed = seed ? (seed * 1103515245u + 12345u) | 1 : 0;
	}
	CHECK(stream_end(&s, note, events) == 0);
	stream_release(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(buf_release) struct buf whole = { 0 };
	CLEANUP(buf_release) struct buf single = { 0 };
	CLEANUP(buf_release) struct buf mixed = { 0 };
	enum stream_kind kind;
	struct span bytes;

	if (size < 2)
		return 0;
	kind = (enum stream_kind)(data[0] % (STREAM_WHOLE + 1));
	bytes = (struct span){ (const char *)data + 2, size - 2 };
	run(bytes, kind, 0, &whole);
	run(bytes, kind, 7, &single); /* begins with one byte */
	run(bytes, kind, data[1] + 1u, &mixed);
	CHECK(span_equal(buf_span(&whole), buf_span(&single)));
	CHECK(span_equal(buf_span(&whole), buf_span(&mixed)));
	return 0;
}
