/*
 * Engines: what the store relies on, checked for every engine there is. What
 * is not checked here may differ from engine to engine.
 */
#include "store/engine/engines.h"

#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define THREADS    4
#define INCREMENTS 2000

static const struct engine_ops *ops; /* of the engine that is tested */
static struct engine *eng;
static char folder[64];

static void open_it(void)
{
	struct err err = { 0 };
	int r = ops->open(folder, &eng, &err);

	if (r < 0)
		fail_msg("%s: %s", ops->name, err.text);
}

static int setup(void **state UNUSED)
{
	(void)snprintf(folder, sizeof folder, "/tmp/adkfs-engine-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	open_it();
	return 0;
}

static int remove_entry(const char *path, const struct stat *st UNUSED, int kind UNUSED,
			struct FTW *ftw UNUSED)
{
	return remove(path);
}

static int teardown(void **state UNUSED)
{
	ops->close(eng);
	return nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static struct txn *begin(void)
{
	struct txn *tx = NULL;

	assert_int_equal(ops->begin(eng, &tx), 0);
	return tx;
}

static int commit(struct txn *tx)
{
	return ops->commit(tx, DURABILITY_PROCESS, NULL);
}

static void put_one(struct span key, struct span value)
{
	struct txn *tx = begin();

	ops->put(tx, key, value);
	assert_int_equal(commit(tx), 0);
}

static void del_one(struct span key)
{
	struct txn *tx = begin();

	ops->del(tx, key);
	assert_int_equal(commit(tx), 0);
}

/* NULL: the key is not there. */
static void expect_in(struct txn *tx, struct span key, const char *want)
{
	CLEANUP(buf_release) struct buf value = { 0 };
	int r = ops->get(tx, key, &value);

	if (!want) {
		assert_int_equal(r, -ENOENT);
		assert_int_equal(value.len, 0);
		return;
	}
	assert_int_equal(r, 0);
	assert_true(buf_cstr(&value) && value.len == strlen(want));
	assert_string_equal(value.data, want);
}

static void expect_now(struct span key, const char *want)
{
	struct txn *tx = begin();

	expect_in(tx, key, want);
	ops->abort(tx);
}

static int show_pair(void *arg, struct span key, struct span value)
{
	struct buf *out = arg;

	buf_span_add(out, key);
	buf_char(out, '=');
	buf_span_add(out, value);
	buf_char(out, ' ');
	return 0;
}

static void expect_scan_in(struct txn *tx, struct span from, struct span to, struct span want)
{
	CLEANUP(buf_release) struct buf seen = { 0 };

	assert_int_equal(ops->scan(tx, from, to, show_pair, &seen), 0);
	assert_int_equal(seen.len, want.len);
	assert_memory_equal(buf_span(&seen).data, want.data, want.len);
}

static void expect_scan(struct span from, struct span to, struct span want)
{
	struct txn *tx = begin();

	expect_scan_in(tx, from, to, want);
	ops->abort(tx);
}

static void test_get_put_del(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf value = { 0 };
	struct txn *tx;

	expect_now(SPAN("k"), NULL);
	put_one(SPAN("k"), SPAN("one"));
	expect_now(SPAN("k"), "one");
	expect_now(SPAN("k\0"), NULL);
	expect_now(SPAN(""), NULL);
	put_one(SPAN("k"), SPAN("two"));
	expect_now(SPAN("k"), "two");
	buf_text(&value, "<");
	tx = begin();
	assert_int_equal(ops->get(tx, SPAN("k"), &value), 0);
	assert_int_equal(ops->get(tx, SPAN("none"), &value), -ENOENT);
	ops->abort(tx);
	assert_string_equal(buf_cstr(&value), "<two"); /* get appends */
	del_one(SPAN("k"));
	expect_now(SPAN("k"), NULL);
	del_one(SPAN("k"));
	put_one(SPAN("k"), SPAN("three"));
	expect_now(SPAN("k"), "three");
}

static void test_own_writes(void **state UNUSED)
{
	struct txn *tx;

	put_one(SPAN("a"), SPAN("1"));
	put_one(SPAN("b"), SPAN("1"));
	tx = begin();
	ops->put(tx, SPAN("a"), SPAN("2"));
	ops->put(tx, SPAN("c"), SPAN("2"));
	ops->del(tx, SPAN("b"));
	expect_in(tx, SPAN("a"), "2");
	expect_in(tx, SPAN("b"), NULL);
	expect_in(tx, SPAN("c"), "2");
	ops->put(tx, SPAN("b"), SPAN("3"));
	ops->put(tx, SPAN("a"), SPAN(""));
	expect_in(tx, SPAN("b"), "3");
	expect_in(tx, SPAN("a"), "");
	expect_now(SPAN("a"), "1"); /* nobody else sees any of it */
	expect_now(SPAN("c"), NULL);
	/* A scan sees what was there before. */
	expect_scan_in(tx, SPAN("a"), SPAN("z"), SPAN("a=1 b=1 "));
	assert_int_equal(commit(tx), 0);
	expect_scan(SPAN("a"), SPAN("z"), SPAN("a= b=3 c=2 "));
}

/* A range that was deleted is a write like the others. */
static void test_own_range(void **state UNUSED)
{
	struct txn *tx;

	put_one(SPAN("a"), SPAN("1"));
	put_one(SPAN("c"), SPAN("1"));
	tx = begin();
	ops->put(tx, SPAN("b"), SPAN("2"));
	ops->del_range(tx, SPAN("a"), SPAN("c"));
	expect_in(tx, SPAN("a"), NULL);
	expect_in(tx, SPAN("b"), NULL);
	expect_in(tx, SPAN("c"), "1");
	ops->put(tx, SPAN("a"), SPAN("3"));
	expect_in(tx, SPAN("a"), "3");
	assert_int_equal(commit(tx), 0);
	expect_scan(SPAN("a"), SPAN("z"), SPAN("a=3 c=1 "));
}

static void test_scan_order(void **state UNUSED)
{
	static const struct span keys[] = {
		SPAN("b"),    SPAN("a"),    SPAN("a\xff"), SPAN("a\0"), SPAN("aa"),
		SPAN("\xff"), SPAN("\x7f"), SPAN("\x80"),  SPAN("\0"),  SPAN("a\0\0"),
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		put_one(keys[i], SPAN(""));
	expect_scan(SPAN("\0"), SPAN("\xff\xff"),
		    SPAN("\0= a= a\0= a\0\0= aa= a\xff= b= \x7f= \x80= \xff= "));
	/* From is inside, to is not. */
	expect_scan(SPAN("a"), SPAN("b"), SPAN("a= a\0= a\0\0= aa= a\xff= "));
	expect_scan(SPAN("a\0"), SPAN("aa"), SPAN("a\0= a\0\0= "));
	expect_scan(SPAN("ab"), SPAN("b\0"), SPAN("a\xff= b= "));
	expect_scan(SPAN("b"), SPAN("b"), SPAN(""));
	expect_scan(SPAN("c"), SPAN("d"), SPAN(""));
	expect_scan(SPAN("\xff\0"), SPAN("\xff\xff"), SPAN(""));
}

struct stop {
	int calls;
	int code;
};

static int stop_second(void *arg, struct span key UNUSED, struct span value UNUSED)
{
	struct stop *s = arg;

	return ++s->calls == 2 ? s->code : 0;
}

static void test_scan_stops(void **state UNUSED)
{
	static const int codes[] = { 1, 42, -EIO };
	size_t i;

	put_one(SPAN("a"), SPAN("1"));
	put_one(SPAN("b"), SPAN("1"));
	put_one(SPAN("c"), SPAN("1"));
	for (i = 0; i < ARRAY_SIZE(codes); i++) {
		struct stop stop = { 0, codes[i] };
		struct txn *tx = begin();

		assert_int_equal(ops->scan(tx, SPAN("a"), SPAN("z"), stop_second, &stop), codes[i]);
		assert_int_equal(stop.calls, 2);
		ops->abort(tx);
	}
}

static int get_beside(void *arg, struct span key, struct span value)
{
	expect_in(arg, SPAN("x"), "y");
	expect_in(arg, key, value.len ? "1" : "");
	ops->put(arg, key, SPAN("2"));
	return 0;
}

/* The function of a scan may use the transaction. */
static void test_use_inside_scan(void **state UNUSED)
{
	struct txn *tx;

	put_one(SPAN("x"), SPAN("y"));
	put_one(SPAN("a"), SPAN("1"));
	put_one(SPAN("b"), SPAN(""));
	tx = begin();
	assert_int_equal(ops->scan(tx, SPAN("a"), SPAN("c"), get_beside, tx), 0);
	assert_int_equal(commit(tx), 0);
	expect_scan(SPAN("a"), SPAN("z"), SPAN("a=2 b=2 x=y "));
}

static void test_del_range(void **state UNUSED)
{
	struct txn *tx = begin();

	ops->put(tx, SPAN("a"), SPAN("1"));
	ops->put(tx, SPAN("b"), SPAN("1"));
	ops->put(tx, SPAN("ba"), SPAN("1"));
	ops->put(tx, SPAN("c"), SPAN("1"));
	assert_int_equal(commit(tx), 0);
	tx = begin();
	ops->del_range(tx, SPAN("b"), SPAN("c"));
	assert_int_equal(commit(tx), 0);
	expect_scan(SPAN("a"), SPAN("z"), SPAN("a=1 c=1 "));
	expect_now(SPAN("b"), NULL);
	/* In the order of the calls. */
	tx = begin();
	ops->put(tx, SPAN("b"), SPAN("before"));
	ops->del_range(tx, SPAN("a"), SPAN("c"));
	ops->put(tx, SPAN("a"), SPAN("after"));
	assert_int_equal(commit(tx), 0);
	expect_scan(SPAN("a"), SPAN("z"), SPAN("a=after c=1 "));
	tx = begin();
	ops->del_range(tx, SPAN("x"), SPAN("y")); /* nothing is there */
	ops->del_range(tx, SPAN("a"), SPAN("a"));
	assert_int_equal(commit(tx), 0);
	expect_scan(SPAN("a"), SPAN("z"), SPAN("a=after c=1 "));
}

/* The first read fixes what a transaction sees. */
static void test_snapshot(void **state UNUSED)
{
	struct txn *old;
	struct txn *older;
	struct txn *tx;
	int i;

	put_one(SPAN("a"), SPAN("1"));
	put_one(SPAN("b"), SPAN("1"));
	put_one(SPAN("c"), SPAN("1"));
	older = begin();
	expect_in(older, SPAN("a"), "1");
	put_one(SPAN("b"), SPAN("2"));
	old = begin();
	expect_in(old, SPAN("b"), "2");
	for (i = 0; i < 20; i++) {
		put_one(SPAN("a"), SPAN("3"));
		del_one(SPAN("b"));
		put_one(SPAN("b"), SPAN("3"));
	}
	del_one(SPAN("a"));
	put_one(SPAN("d"), SPAN("3"));
	tx = begin();
	ops->del_range(tx, SPAN("b"), SPAN("d"));
	assert_int_equal(commit(tx), 0);
	expect_in(old, SPAN("a"), "1");
	expect_in(old, SPAN("b"), "2");
	expect_in(old, SPAN("d"), NULL);
	expect_scan_in(old, SPAN("a"), SPAN("z"), SPAN("a=1 b=2 c=1 "));
	expect_scan_in(older, SPAN("a"), SPAN("z"), SPAN("a=1 b=1 c=1 "));
	ops->abort(old);
	expect_in(older, SPAN("b"), "1");
	ops->abort(older);
	expect_scan(SPAN("a"), SPAN("z"), SPAN("d=3 "));
}

static void change_by_put(void)
{
	put_one(SPAN("k"), SPAN("theirs"));
}

static void change_by_del(void)
{
	del_one(SPAN("k"));
}

static void change_to_the_same(void)
{
	put_one(SPAN("k"), SPAN("old"));
}

/* As documented: whoever removes a range deletes the key that others get. */
static void change_by_range(void)
{
	struct txn *tx = begin();

	ops->del_range(tx, SPAN("a"), SPAN("z"));
	ops->del(tx, SPAN("k"));
	assert_int_equal(commit(tx), 0);
}

static void test_lost_race(void **state UNUSED)
{
	static void (*const changes[])(void) = { change_by_put, change_by_del, change_to_the_same,
						 change_by_range };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(changes); i++) {
		struct txn *tx;

		put_one(SPAN("k"), SPAN("old"));
		tx = begin();
		expect_in(tx, SPAN("k"), "old");
		ops->put(tx, SPAN("result"), SPAN("mine"));
		changes[i]();
		assert_int_equal(commit(tx), -EAGAIN);
		expect_now(SPAN("result"), NULL);
	}
}

/* That a key is not there is read as well. */
static void test_lost_race_for_a_new_key(void **state UNUSED)
{
	struct txn *first = begin();
	struct txn *second = begin();

	expect_in(first, SPAN("new"), NULL);
	expect_in(second, SPAN("new"), NULL);
	ops->put(first, SPAN("new"), SPAN("1"));
	ops->put(second, SPAN("new"), SPAN("2"));
	assert_int_equal(commit(second), 0);
	assert_int_equal(commit(first), -EAGAIN);
	expect_now(SPAN("new"), "2");
}

/* The race is lost however early the key was read, and by a retry no more. */
static void test_retry_wins(void **state UNUSED)
{
	struct txn *tx;

	put_one(SPAN("k"), SPAN("1"));
	tx = begin();
	expect_in(tx, SPAN("k"), "1");
	expect_in(tx, SPAN("other"), NULL);
	put_one(SPAN("k"), SPAN("2"));
	expect_in(tx, SPAN("k"), "1");
	ops->put(tx, SPAN("k"), SPAN("3"));
	expect_in(tx, SPAN("k"), "3");
	assert_int_equal(commit(tx), -EAGAIN);
	tx = begin();
	expect_in(tx, SPAN("k"), "2");
	ops->put(tx, SPAN("k"), SPAN("3"));
	assert_int_equal(commit(tx), 0);
	expect_now(SPAN("k"), "3");
}

/* Who read nothing cannot have read something old. */
static void test_blind_writes(void **state UNUSED)
{
	struct txn *first = begin();
	struct txn *second = begin();

	ops->put(first, SPAN("k"), SPAN("1"));
	ops->put(second, SPAN("k"), SPAN("2"));
	assert_int_equal(commit(second), 0);
	assert_int_equal(commit(first), 0);
	expect_now(SPAN("k"), "1");
}

static void test_abort(void **state UNUSED)
{
	struct txn *tx = begin();

	put_one(SPAN("a"), SPAN("1"));
	ops->put(tx, SPAN("a"), SPAN("2"));
	ops->put(tx, SPAN("b"), SPAN("2"));
	ops->del_range(tx, SPAN("a"), SPAN("z"));
	ops->abort(tx);
	expect_scan(SPAN("a"), SPAN("z"), SPAN("a=1 "));
	ops->abort(begin());
	assert_int_equal(commit(begin()), 0);
}

static void fill(struct buf *out, size_t n, unsigned seed)
{
	while (n--)
		buf_char(out, (char)((seed = seed * 1103515245 + 12345) >> 16));
}

static void test_sizes(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf big = { 0 };
	CLEANUP(buf_release) struct buf key = { 0 };
	CLEANUP(buf_release) struct buf back = { 0 };
	struct txn *tx;

	fill(&big, ENGINE_VALUE_MAX, 1);
	fill(&key, 1024, 2);
	tx = begin();
	ops->put(tx, buf_span(&key), buf_span(&big));
	ops->put(tx, SPAN("empty"), SPAN(""));
	assert_int_equal(ops->get(tx, buf_span(&key), &back), 0);
	assert_true(span_equal(buf_span(&back), buf_span(&big)));
	assert_int_equal(commit(tx), 0);
	buf_clear(&back);
	tx = begin();
	assert_int_equal(ops->get(tx, buf_span(&key), &back), 0);
	assert_true(span_equal(buf_span(&back), buf_span(&big)));
	ops->abort(tx);
	key.len--;
	expect_now(buf_span(&key), NULL);
	expect_now(SPAN("empty"), "");
}

static int count_pair(void *arg, struct span key, struct span value)
{
	assert_true(span_equal(key, value));
	++*(int *)arg;
	return 0;
}

static void test_many_keys(void **state UNUSED)
{
	struct txn *tx = begin();
	char key[16];
	int n = 0;
	int i;

	for (i = 0; i < 5000; i++) {
		(void)snprintf(key, sizeof key, "%08x", (unsigned)i * 2654435761u);
		ops->put(tx, span_of(key), span_of(key));
	}
	assert_int_equal(commit(tx), 0);
	tx = begin();
	assert_int_equal(ops->scan(tx, SPAN("0"), SPAN("g"), count_pair, &n), 0);
	assert_int_equal(n, 5000);
	ops->abort(tx);
}

static uint64_t number_in(struct txn *tx, struct span key, bool *failed)
{
	CLEANUP(buf_release) struct buf value = { 0 };
	int r = ops->get(tx, key, &value);

	*failed |= r < 0 && r != -ENOENT;
	return r == 0 ? strtoull(buf_cstr(&value), NULL, 10) : 0;
}

static void put_number(struct txn *tx, struct span key, uint64_t number)
{
	char text[24];

	(void)snprintf(text, sizeof text, "%llu", (unsigned long long)number);
	ops->put(tx, key, span_of(text));
}

/* What threads found wrong: they may not assert themselves. */
static atomic_int wrong;

static void *increment(void *arg UNUSED)
{
	int done = 0;

	while (done < INCREMENTS) {
		bool failed = false;
		struct txn *tx;
		int r;

		if (ops->begin(eng, &tx) < 0) {
			wrong++;
			return NULL;
		}
		put_number(tx, SPAN("n"), number_in(tx, SPAN("n"), &failed) + 1);
		r = commit(tx);
		if (failed || (r < 0 && r != -EAGAIN)) {
			wrong++;
			return NULL;
		}
		done += r == 0;
	}
	return NULL;
}

static void run_threads(void *(*fn)(void *), void *arg)
{
	pthread_t threads[THREADS];
	int i;

	wrong = 0;
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, fn, arg), 0);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(wrong, 0);
}

/* Each commit that said it won did count. */
static void test_no_false_success(void **state UNUSED)
{
	char want[24];

	run_threads(increment, NULL);
	(void)snprintf(want, sizeof want, "%d", THREADS * INCREMENTS);
	expect_now(SPAN("n"), want);
}

#define ACCOUNTS 5
#define TOTAL    1000

static struct span account(unsigned n)
{
	static const char names[ACCOUNTS][2] = { "a", "b", "c", "d", "e" };

	return (struct span){ names[n], 1 };
}

static int add_up(void *arg, struct span key UNUSED, struct span value)
{
	char text[24] = "";

	memcpy(text, value.data, MIN(value.len, sizeof text - 1));
	*(uint64_t *)arg += strtoull(text, NULL, 10);
	return 0;
}

static unsigned draw(unsigned *seed)
{
	*seed = *seed * 1103515245 + 12345;
	return *seed >> 16;
}

/* One try to move a coin, or to count all of them. */
static int move_coin(struct txn *tx, unsigned from, unsigned to)
{
	bool failed = false;
	uint64_t have = number_in(tx, account(from), &failed);

	if (have && from != to) {
		put_number(tx, account(to), number_in(tx, account(to), &failed) + 1);
		put_number(tx, account(from), have - 1);
	}
	wrong += failed;
	return commit(tx);
}

static void *transfer(void *arg)
{
	unsigned seed = (unsigned)atomic_fetch_add((atomic_int *)arg, 1) * 7919 + 1;
	int i;

	for (i = 0; i < 1000; i++) {
		struct txn *tx;
		uint64_t sum = 0;
		int r = ops->begin(eng, &tx);

		if (r == 0 && i % 4) {
			r = move_coin(tx, draw(&seed) % ACCOUNTS, draw(&seed) % ACCOUNTS);
			wrong += r < 0 && r != -EAGAIN;
		} else if (r == 0) {
			wrong += ops->scan(tx, SPAN("a"), SPAN("f"), add_up, &sum) < 0;
			wrong += sum != TOTAL;
			ops->abort(tx);
		}
	}
	return NULL;
}

/* Coins move between accounts; every snapshot holds all of them. */
static void test_snapshots_are_whole(void **state UNUSED)
{
	atomic_int next = 0;
	uint64_t sum = 0;
	struct txn *tx = begin();
	unsigned i;

	for (i = 0; i < ACCOUNTS; i++)
		put_number(tx, account(i), TOTAL / ACCOUNTS);
	assert_int_equal(commit(tx), 0);
	run_threads(transfer, &next);
	tx = begin();
	assert_int_equal(ops->scan(tx, SPAN("a"), SPAN("f"), add_up, &sum), 0);
	ops->abort(tx);
	assert_int_equal(sum, TOTAL);
}

static void test_durability(void **state UNUSED)
{
	struct err err = { 0 };
	struct txn *tx = begin();

	ops->put(tx, SPAN("k"), SPAN("v"));
	assert_int_equal(ops->commit(tx, DURABILITY_DISK, &err), 0);
	assert_int_equal(ops->sync(eng, &err), 0);
	expect_now(SPAN("k"), "v");
}

static void test_reopen(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf big = { 0 };
	bool kept = ops != &engine_memory; /* which says that nothing is */
	struct txn *tx;
	int i;

	fill(&big, ENGINE_VALUE_MAX, 3);
	tx = begin();
	ops->put(tx, SPAN("k"), SPAN("v"));
	ops->put(tx, SPAN("big"), buf_span(&big));
	ops->put(tx, SPAN("gone"), SPAN("v"));
	ops->put(tx, SPAN("range"), SPAN("v"));
	assert_int_equal(commit(tx), 0);
	del_one(SPAN("gone"));
	tx = begin();
	ops->del_range(tx, SPAN("r"), SPAN("s"));
	assert_int_equal(commit(tx), 0);
	tx = begin();
	ops->put(tx, SPAN("never"), SPAN("v"));
	ops->abort(tx);
	for (i = 0; i < 2; i++) {
		ops->close(eng);
		open_it();
		expect_now(SPAN("k"), kept ? "v" : NULL);
		expect_now(SPAN("gone"), NULL);
		expect_now(SPAN("range"), NULL);
		expect_now(SPAN("never"), NULL);
	}
	if (kept) {
		CLEANUP(buf_release) struct buf back = { 0 };

		tx = begin();
		assert_int_equal(ops->get(tx, SPAN("big"), &back), 0);
		ops->abort(tx);
		assert_true(span_equal(buf_span(&back), buf_span(&big)));
	}
	/* What was before the start does not count as a race. */
	tx = begin();
	expect_in(tx, SPAN("k"), kept ? "v" : NULL);
	ops->put(tx, SPAN("k"), SPAN("w"));
	assert_int_equal(commit(tx), 0);
	expect_now(SPAN("k"), "w");
}

static void test_names(void **state UNUSED)
{
	size_t n;

	for (n = 0; engines[n]; n++)
		assert_ptr_equal(engine_find(engines[n]->name), engines[n]);
	assert_true(n >= 2);
	assert_null(engine_find("no such engine"));
	assert_null(engine_find(""));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest names[] = { cmocka_unit_test(test_names) };
	const struct CMUnitTest conformance[] = {
		TEST(test_get_put_del),
		TEST(test_own_writes),
		TEST(test_own_range),
		TEST(test_scan_order),
		TEST(test_scan_stops),
		TEST(test_use_inside_scan),
		TEST(test_del_range),
		TEST(test_snapshot),
		TEST(test_lost_race),
		TEST(test_lost_race_for_a_new_key),
		TEST(test_retry_wins),
		TEST(test_blind_writes),
		TEST(test_abort),
		TEST(test_sizes),
		TEST(test_many_keys),
		TEST(test_no_false_success),
		TEST(test_snapshots_are_whole),
		TEST(test_durability),
		TEST(test_reopen),
	};
	int failed = cmocka_run_group_tests(names, NULL, NULL);
	size_t i;

	for (i = 0; engines[i]; i++) {
		ops = engines[i];
		failed += cmocka_run_group_tests_name(ops->name, conformance, NULL, NULL);
	}
	return failed;
}
