/*
 * Conflicts: what a transaction remembers of itself, and who loses a race.
 */
#include "store/engine/conflict.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct conflict_table table;

static int setup(void **state UNUSED)
{
	conflict_table_init(&table);
	return 0;
}

static int teardown(void **state UNUSED)
{
	conflict_table_release(&table);
	return 0;
}

static int apply(void *arg)
{
	int *calls = arg;

	++*calls;
	return 0;
}

static int fail_to_apply(void *arg UNUSED)
{
	return -ENOSPC;
}

static int finish(struct conflict_set *set)
{
	int calls = 0;
	int r = conflict_commit(&table, set, apply, &calls);

	assert_int_equal(calls, r == 0);
	conflict_release(set);
	return r;
}

/* Many writes, some twice, some deleted singly or as a range, against what they should leave. */
static void test_own_writes_at_random(void **state UNUSED)
{
	enum { KEYS = 3000, NEVER = -1, DELETED = -2 };
	static int want[KEYS];
	struct conflict_set set = { 0 };
	unsigned seed = 5;
	int i;

	for (i = 0; i < KEYS; i++)
		want[i] = NEVER;
	for (i = 0; i < 4 * KEYS; i++) {
		int k = (int)(seed = seed * 1103515245u + 12345u) / 65536 % KEYS;
		char key[16];
		char value[16];

		k = k < 0 ? -k : k;
		(void)snprintf(key, sizeof key, "%05d", k);
		(void)snprintf(value, sizeof value, "%d", i);
		if (i % 1000 == 999) {
			int last = MIN(k + 50, KEYS);

			(void)snprintf(value, sizeof value, "%05d", last);
			conflict_note_write(&set, WRITE_DELETE_RANGE, span_of(key), span_of(value));
			for (; k < last; k++)
				want[k] = DELETED;
		} else if (i % 7 == 3) {
			conflict_note_write(&set, WRITE_DELETE, span_of(key), SPAN(""));
			want[k] = DELETED;
		} else {
			conflict_note_write(&set, WRITE_PUT, span_of(key), span_of(value));
			want[k] = i;
		}
	}
	for (i = 0; i < KEYS; i++) {
		struct span value;
		char key[16];
		char text[16];
		int r;

		(void)snprintf(key, sizeof key, "%05d", i);
		(void)snprintf(text, sizeof text, "%d", want[i]);
		r = conflict_own(&set, span_of(key), &value);
		assert_int_equal(r, want[i] == NEVER ? 0 : want[i] == DELETED ? -ENOENT : 1);
		if (r == 1)
			assert_true(span_is(value, text));
	}
	conflict_release(&set);
}

static void test_own_writes(void **state UNUSED)
{
	struct conflict_set set = { 0 };
	struct span value;

	assert_int_equal(conflict_own(&set, SPAN("k"), &value), 0);
	conflict_note_write(&set, WRITE_PUT, SPAN("k"), SPAN("one"));
	conflict_note_write(&set, WRITE_PUT, SPAN("kk"), SPAN(""));
	assert_int_equal(conflict_own(&set, SPAN("k"), &value), 1);
	assert_true(span_is(value, "one"));
	assert_int_equal(conflict_own(&set, SPAN("kk"), &value), 1);
	assert_int_equal(value.len, 0);
	conflict_note_write(&set, WRITE_PUT, SPAN("k"), SPAN("two"));
	assert_int_equal(conflict_own(&set, SPAN("k"), &value), 1);
	assert_true(span_is(value, "two"));
	conflict_note_write(&set, WRITE_DELETE, SPAN("k"), SPAN(""));
	assert_int_equal(conflict_own(&set, SPAN("k"), &value), -ENOENT);
	conflict_note_write(&set, WRITE_PUT, SPAN("k"), SPAN("three"));
	assert_int_equal(conflict_own(&set, SPAN("k"), &value), 1);
	assert_true(span_is(value, "three"));
	assert_int_equal(conflict_own(&set, SPAN("k\0"), &value), 0);
	conflict_release(&set);
}

/* The filter over the keys may say yes too often, never no. */
static void test_many_own_writes(void **state UNUSED)
{
	struct conflict_set set = { 0 };
	struct span value;
	char key[32];
	int i;

	for (i = 0; i < 500; i++) {
		int n = snprintf(key, sizeof key, "key-%d", i * 7);

		conflict_note_write(&set, WRITE_PUT, (struct span){ key, (size_t)n },
				    (struct span){ key, (size_t)n });
	}
	for (i = 0; i < 3500; i++) {
		int n = snprintf(key, sizeof key, "key-%d", i);

		assert_int_equal(conflict_own(&set, (struct span){ key, (size_t)n }, &value),
				 i % 7 == 0);
		if (i % 7 == 0)
			assert_true(span_is(value, key));
	}
	conflict_release(&set);
}

static void tell(void *arg, enum write_kind kind, struct span key, struct span value)
{
	buf_printf(arg, "%d %.*s=%.*s;", (int)kind, (int)key.len, key.data, (int)value.len,
		   value.data);
}

static void test_order_of_writes(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf seen = { 0 };
	struct conflict_set set = { 0 };

	conflict_each_write(&set, tell, &seen);
	assert_int_equal(seen.len, 0);
	conflict_note_write(&set, WRITE_PUT, SPAN("b"), SPAN("1"));
	conflict_note_write(&set, WRITE_DELETE_RANGE, SPAN("a"), SPAN("c"));
	conflict_note_write(&set, WRITE_PUT, SPAN("b"), SPAN("2"));
	conflict_note_write(&set, WRITE_DELETE, SPAN("a"), SPAN(""));
	conflict_each_write(&set, tell, &seen);
	assert_string_equal(buf_cstr(&seen), "0 b=1;2 a=c;0 b=2;1 a=;");
	conflict_release(&set);
}

static void read_key(struct conflict_set *set, struct span key)
{
	conflict_begin(&table, set);
	conflict_note_read(set, key);
}

static void write_key(struct span key)
{
	struct conflict_set set = { 0 };

	conflict_begin(&table, &set);
	conflict_note_write(&set, WRITE_PUT, key, SPAN("x"));
	assert_int_equal(finish(&set), 0);
}

static void test_who_loses(void **state UNUSED)
{
	struct conflict_set reader = { 0 };
	struct conflict_set late = { 0 };
	struct conflict_set blind = { 0 };

	read_key(&reader, SPAN("k"));
	conflict_note_write(&reader, WRITE_PUT, SPAN("other"), SPAN("x"));
	conflict_begin(&table, &blind);
	conflict_note_write(&blind, WRITE_PUT, SPAN("k"), SPAN("x"));
	write_key(SPAN("k"));
	read_key(&late, SPAN("k"));
	conflict_note_write(&late, WRITE_PUT, SPAN("k"), SPAN("x"));
	assert_int_equal(finish(&reader), -EAGAIN); /* it read what was replaced */
	assert_int_equal(finish(&late), 0);         /* it read what was there */
	assert_int_equal(finish(&blind), 0);        /* it read nothing */
}

/* Read and written by the same transaction: its own write is no race. */
static void test_own_key_is_no_race(void **state UNUSED)
{
	struct conflict_set set = { 0 };

	read_key(&set, SPAN("k"));
	conflict_note_read(&set, SPAN("k"));
	conflict_note_write(&set, WRITE_PUT, SPAN("k"), SPAN("1"));
	conflict_note_write(&set, WRITE_DELETE, SPAN("k"), SPAN(""));
	assert_int_equal(finish(&set), 0);
}

/* What could not be written changes nothing for others. */
static void test_failed_write(void **state UNUSED)
{
	struct conflict_set set = { 0 };
	struct conflict_set reader = { 0 };

	read_key(&reader, SPAN("k"));
	conflict_begin(&table, &set);
	conflict_note_write(&set, WRITE_PUT, SPAN("k"), SPAN("1"));
	assert_int_equal(conflict_commit(&table, &set, fail_to_apply, NULL), -ENOSPC);
	conflict_release(&set);
	conflict_note_write(&reader, WRITE_PUT, SPAN("k"), SPAN("2"));
	assert_int_equal(finish(&reader), 0);
}

/* A transaction of ranges only names no stripe at all. */
static void test_only_ranges(void **state UNUSED)
{
	struct conflict_set set = { 0 };

	conflict_begin(&table, &set);
	conflict_note_write(&set, WRITE_DELETE_RANGE, SPAN("a"), SPAN("b"));
	assert_int_equal(finish(&set), 0);
}

static void test_out_of_memory(void **state UNUSED)
{
	struct conflict_set set = { 0 };

	conflict_begin(&table, &set);
	conflict_note_write(&set, WRITE_PUT, SPAN("a"), SPAN("b"));
	set.writes.failed = true;
	assert_int_equal(finish(&set), -ENOMEM);
	/* No lock is left behind. */
	write_key(SPAN("a"));
}

/* What is cleared remembers nothing: no write, no range, no failure, no read that could lose. */
static void test_clear(void **state UNUSED)
{
	struct conflict_set set = { 0 };
	struct conflict_set other = { 0 };
	struct span value;

	conflict_begin(&table, &set);
	conflict_note_read(&set, SPAN("read"));
	conflict_note_write(&set, WRITE_PUT, SPAN("k"), SPAN("one"));
	conflict_note_write(&set, WRITE_DELETE_RANGE, SPAN("a"), SPAN("z"));
	set.writes.failed = true;
	conflict_clear(&set);
	assert_int_equal(conflict_own(&set, SPAN("k"), &value), 0);
	assert_int_equal(conflict_own(&set, SPAN("b"), &value), 0);
	conflict_note_write(&other, WRITE_PUT, SPAN("read"), SPAN("later"));
	assert_int_equal(finish(&other), 0);
	conflict_note_write(&set, WRITE_PUT, SPAN("k"), SPAN("two"));
	assert_int_equal(finish(&set), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_own_writes),      TEST(test_own_writes_at_random),
		TEST(test_many_own_writes), TEST(test_order_of_writes),
		TEST(test_who_loses),       TEST(test_own_key_is_no_race),
		TEST(test_failed_write),    TEST(test_only_ranges),
		TEST(test_out_of_memory),   TEST(test_clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
