/*
 * Live turns: the order of what is shown, reading, and who is waited for.
 */
#include "runner/live/live.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static struct live *live_of_test(void)
{
	static const struct turn_info info = { .n = 1, .number = 7, .bytes = 100 };
	struct live *live = live_new((struct ref){ 1, 2, 3 }, &info, NULL);

	assert_non_null(live);
	return live;
}

static void expect(struct live *live, enum live_stream which, const char *text)
{
	CLEANUP(buf_release) struct buf got = { 0 };

	assert_int_equal(live_size(live, which), strlen(text));
	if (*text)
		assert_int_equal(live_read(live, which, 0, 1000, &got), 0);
	assert_string_equal(got.len ? buf_cstr(&got) : "", text);
}

/* Lines have ten bytes; the turn's own line had 100. */
static void test_order(void **state)
{
	struct live *live = live_of_test();

	(void)state;
	live_add_event(live, 130, SPAN("line no 3\n"), SPAN("3"));
	live_add_event(live, 140, SPAN("line no 4\n"), SPAN("4"));
	live_add_event(live, 120, SPAN("line no 2\n"), SPAN("2"));
	expect(live, LIVE_EVENTS, "");
	expect(live, LIVE_OUTPUT, "");
	live_add_event(live, 110, SPAN("line no 1\n"), SPAN("1"));
	expect(live, LIVE_EVENTS, "line no 1\nline no 2\nline no 3\nline no 4\n");
	expect(live, LIVE_OUTPUT, "1234");
	live_add_event(live, 170, SPAN("line no 7\n"), SPAN("7"));
	expect(live, LIVE_OUTPUT, "1234");
	live_end(live, false);
	expect(live, LIVE_OUTPUT, "12347");
	live_unref(live);
}

static void test_reading(void **state)
{
	struct live *live = live_of_test();
	CLEANUP(buf_release) struct buf got = { 0 };

	(void)state;
	assert_int_equal(live_read(live, LIVE_OUTPUT, 0, 10, &got), -EAGAIN);
	live_add(live, LIVE_OUTPUT, SPAN("hello"));
	assert_int_equal(live_read(live, LIVE_OUTPUT, 1, 3, &got), 0);
	assert_string_equal(buf_cstr(&got), "ell");
	assert_int_equal(live_read(live, LIVE_OUTPUT, 5, 3, &got), -EAGAIN);
	live_end(live, true);
	assert_int_equal(live_read(live, LIVE_OUTPUT, 5, 3, &got), -EIO);
	assert_int_equal(live_read(live, LIVE_EVENTS, 0, 3, &got), 1);
	live_unref(live);
}

static void rest_often(struct live *live)
{
	for (int i = 0; i < LIVE_THROTTLE_AFTER + 3; i++) {
		live_add(live, LIVE_EVENTS, SPAN("piece\n"));
		live_throttle(live);
	}
}

/* A turn rests if no reader waits, and never while one does. */
static void test_rests(void **state)
{
	struct live *live = live_of_test();
	CLEANUP(buf_release) struct buf got = { 0 };

	(void)state;
	for (int i = 0; i < 2 * LIVE_THROTTLE_AFTER; i++) {
		assert_int_equal(live_read(live, LIVE_OUTPUT, 0, 1, &got), -EAGAIN);
		live_add(live, LIVE_EVENTS, SPAN("piece\n"));
		live_throttle(live);
		assert_int_equal(live->unread, 1);
	}
	rest_often(live);
	assert_int_equal(live->unread, LIVE_THROTTLE_AFTER);
	assert_int_equal(live_read(live, LIVE_EVENTS, 0, 1, &got), 0);
	live_add(live, LIVE_EVENTS, SPAN("piece\n"));
	assert_int_equal(live->unread, LIVE_THROTTLE_AFTER); /* it has not read all */
	assert_int_equal(live_read(live, LIVE_OUTPUT, 0, 1, &got), -EAGAIN);
	live_throttle(live);
	assert_true(live->awaited);
	live_add(live, LIVE_EVENTS, SPAN("piece\n"));
	assert_false(live->awaited);
	assert_int_equal(live->unread, 0);
	live_unref(live);
}

static void *cancel_it(void *live)
{
	live_cancel(live);
	return NULL;
}

/* Nobody waits for who has to end. */
static void test_cancel(void **state)
{
	struct live *live = live_of_test();
	pthread_t thread;

	(void)state;
	rest_often(live);
	assert_int_equal(pthread_create(&thread, NULL, cancel_it, live), 0);
	while (!cancel_fired(&live->cancel))
		live_throttle(live);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(live->awaited);
	live_unref(live);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_reading),
		cmocka_unit_test(test_rests),
		cmocka_unit_test(test_cancel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
