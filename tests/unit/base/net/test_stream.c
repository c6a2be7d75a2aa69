/*
 * Streams: the same bytes give the same events, however they are cut.
 */
#include "base/net/stream.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct stream_case {
	const char *name;
	enum stream_kind kind;
	const char *bytes;
	const char *events; /* each followed by '|' */
} cases[] = {
	{ "line feeds", STREAM_SSE, "data: a\n\ndata: b\n\n", "a|b|" },
	{ "CR LF", STREAM_SSE, "data: a\r\n\r\ndata: b\r\n\r\n", "a|b|" },
	{ "CR", STREAM_SSE, "data: a\r\rdata: b\r\r", "a|b|" },
	{ "CR LF and LF mixed", STREAM_SSE, "data: a\r\n\ndata: b\n\r\n", "a|b|" },
	{ "byte order mark", STREAM_SSE,
	  "\xef\xbb\xbf"
	  "data: a\n\n",
	  "a|" },
	{ "byte order mark later is no mark", STREAM_SSE,
	  "\n\xef\xbb\xbf"
	  "data: a\n\n",
	  "" },
	{ "no space", STREAM_SSE, "data:a\n\n", "a|" },
	{ "one space is dropped", STREAM_SSE, "data:  a \n\n", " a |" },
	{ "lines are joined", STREAM_SSE, "data: a\ndata:\ndata: b\n\n", "a\n\nb|" },
	{ "empty data is no event", STREAM_SSE, "id: 1\ndata:\n\ndata: a\n\n", "a|" },
	{ "comments", STREAM_SSE, ": hello\n\n:\ndata: a\n: more\n\n", "a|" },
	{ "other fields", STREAM_SSE, "event: x\nid: 7\nretry: 1\nfoo\ndata: a\n\n", "a|" },
	{ "a field that begins alike", STREAM_SSE, "database: x\ndata: a\n\n", "a|" },
	{ "many blank lines", STREAM_SSE, "\n\n\ndata: a\n\n\n\n", "a|" },
	{ "no last blank line", STREAM_SSE, "data: a\n\ndata: b\n", "a|b|" },
	{ "no last line end", STREAM_SSE, "data: a\n\ndata: b", "a|b|" },
	{ "a CR at the end", STREAM_SSE, "data: a\r", "a|" },
	{ "not a line end", STREAM_SSE,
	  "data: a\xe2\x80\xa8"
	  "b\xc2\x85"
	  "c\n\n",
	  "a\xe2\x80\xa8"
	  "b\xc2\x85"
	  "c|" },
	{ "a marker inside", STREAM_SSE, "data: {\"t\":\"data: [DONE]\"}\n\ndata: [DONE]\n\n",
	  "{\"t\":\"data: [DONE]\"}|[DONE]|" },
	{ "bare JSON", STREAM_SSE, "data: a\n\n{\"error\": 1}\n\ndata: b\n\n",
	  "a|{\"error\": 1}|b|" },
	{ "bare JSON at the end", STREAM_SSE, "data: a\r\n\r\n[{\r\n  \"data\": 1\r\n}]",
	  "a|[{\n  \"data\": 1\n}]|" },
	{ "bare JSON before data", STREAM_SSE, "id: 1\n{\n}\ndata: b\n\n", "{\n}|b|" },
	{ "brackets inside an event", STREAM_SSE, "data: a\n{}\ndata: b\n\n", "a\nb|" },
	{ "nothing", STREAM_SSE, "", "" },
	{ "ndjson", STREAM_NDJSON, "{\"a\":1}\n{\"b\":2}\r\n\n{\"c\":3}",
	  "{\"a\":1}|{\"b\":2}|{\"c\":3}|" },
	{ "ndjson with blanks", STREAM_NDJSON, " \t\n{}\n  ", "{}|" },
	{ "ndjson of nothing", STREAM_NDJSON, "", "" },
	{ "whole", STREAM_WHOLE, "{\n \"a\": 1\r\n}\n", "{\n \"a\": 1\r\n}\n|" },
	{ "whole of nothing", STREAM_WHOLE, "", "" },
};

static int note(void *arg, struct span data)
{
	struct buf *events = arg;

	buf_span_add(events, data);
	buf_char(events, '|');
	return 0;
}

static int feed_split(struct stream *s, struct span bytes, size_t size, struct buf *events)
{
	int r = 0;

	while (r == 0 && bytes.len) {
		size_t n = MIN(size, bytes.len);
		char *piece = malloc(n); /* of its own, so that reading beyond it is noticed */

		memcpy(piece, bytes.data, n);
		r = stream_feed(s, (struct span){ piece, n }, note, events);
		free(piece);
		bytes = span_sub(bytes, n, bytes.len);
	}
	return r < 0 ? r : stream_end(s, note, events);
}

static void test_splits(void **state)
{
	static const size_t sizes[] = { 1, 2, 3, 7, 64, SIZE_MAX };
	size_t i;
	size_t k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		for (k = 0; k < ARRAY_SIZE(sizes); k++) {
			struct buf events = { 0 };
			struct stream s;

			stream_init(&s, cases[i].kind);
			assert_int_equal(feed_split(&s, span_of(cases[i].bytes), sizes[k], &events),
					 0);
			if (!span_is(buf_span(&events), cases[i].events))
				fail_msg("%s, split %zu: got '%s'", cases[i].name, sizes[k],
					 buf_cstr(&events));
			stream_release(&s);
			buf_release(&events);
		}
	}
}

/* What a stream says about going on with it later. */
static void test_id_and_retry(void **state)
{
	struct buf events = { 0 };
	struct stream s;

	(void)state;
	stream_init(&s, STREAM_SSE);
	assert_int_equal(s.retry_ms, STREAM_RETRY_MS);
	assert_int_equal(stream_feed(&s, SPAN("id: a-1\nretry: 50\ndata:\n\n"), note, &events), 0);
	assert_string_equal(buf_cstr(&s.id), "a-1");
	assert_int_equal(s.retry_ms, 50);
	assert_int_equal(stream_feed(&s, SPAN("retry: 1s\nid:b\ndata: x\n\nretry: 99999999999\n"),
				     note, &events),
			 0);
	assert_string_equal(buf_cstr(&s.id), "b");
	assert_int_equal(s.retry_ms, STREAM_RETRY_MAX);
	assert_int_equal(stream_feed(&s, SPAN("id: c\0d\nretry:\n\nid\n"), note, &events), 0);
	assert_int_equal(s.id.len, 0);
	assert_int_equal(s.retry_ms, STREAM_RETRY_MAX);
	assert_string_equal(buf_cstr(&events), "x|");
	stream_release(&s);
	buf_release(&events);
}

static int stop(void *arg, struct span data)
{
	int *calls = arg;

	(void)data;
	++*calls;
	return -ECANCELED;
}

static void test_stop(void **state)
{
	struct stream s;
	int calls = 0;

	(void)state;
	stream_init(&s, STREAM_SSE);
	assert_int_equal(stream_feed(&s, SPAN("data: a\n\ndata: b\n\n"), stop, &calls), -ECANCELED);
	assert_int_equal(calls, 1);
	stream_release(&s);
}

static void test_limit(void **state)
{
	static char block[1 << 20];
	static const enum stream_kind kinds[] = { STREAM_SSE, STREAM_NDJSON, STREAM_WHOLE };
	size_t i;

	(void)state;
	memset(block, 'x', sizeof block);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct buf events = { 0 };
		struct stream s;
		size_t fed = 0;
		int r = 0;

		stream_init(&s, kinds[i]);
		while (r == 0 && fed <= STREAM_EVENT_MAX) {
			r = stream_feed(&s, (struct span){ block, sizeof block }, note, &events);
			fed += sizeof block;
		}
		assert_int_equal(r, -EMSGSIZE);
		assert_int_equal(events.len, 0);
		stream_release(&s);
	}
}

/* Many short lines of one event count together. */
static void test_limit_of_lines(void **state)
{
	static char line[65536];
	struct buf events = { 0 };
	struct stream s;
	size_t fed = 0;
	int r = 0;

	(void)state;
	memset(line, 'x', sizeof line);
	memcpy(line, "data:", 5);
	line[sizeof line - 1] = '\n';
	stream_init(&s, STREAM_SSE);
	while (r == 0 && fed <= STREAM_EVENT_MAX + sizeof line * 64) {
		r = stream_feed(&s, (struct span){ line, sizeof line }, note, &events);
		fed += sizeof line;
	}
	assert_int_equal(r, -EMSGSIZE);
	stream_release(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_splits),         cmocka_unit_test(test_id_and_retry),
		cmocka_unit_test(test_stop),           cmocka_unit_test(test_limit),
		cmocka_unit_test(test_limit_of_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
