/*
 * Formats of stores: a store of format 1 is converted, in steps, and strange ones are refused.
 */
#include "store/artifact/artifact.h"
#include "store/artifact/bulk.h"
#include "store/format.h"
#include "store/open.h"
#include "store/remove.h"
#include "store/session/seal.h"
#include "store/timeline/fork.h"
#include "store/tx/record.h"
#include "tests/unit/store/store_rig.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define NOW "adkfs 2 pages refs sums seals"

static int put_format(struct store_tx *tx, void *arg)
{
	struct key key = key_space(KEY_META_FORMAT);

	store_put(tx, &key, span_of(arg));
	return 0;
}

static int get_format(struct store_tx *tx, void *arg)
{
	struct key key = key_space(KEY_META_FORMAT);

	return store_get(tx, &key, arg);
}

static void expect_format(const char *want)
{
	CLEANUP(buf_release) struct buf text = { 0 };

	OK(store_view(st, get_format, &text, &err));
	assert_string_equal(buf_cstr(&text), want);
}

static void set_format(const char *text)
{
	OK(store_update(st, put_format, (void *)(uintptr_t)text, &err));
}

static void expect_refused(const char *format, const char *word)
{
	struct store_options options = { .folder = folder, .engine = engine };

	open_store();
	set_format(format);
	store_close(st);
	st = NULL;
	assert_int_equal(store_open(&options, &st, &err), -EINVAL);
	assert_non_null(strstr(err.text, word));
	assert_null(st);
	err = (struct err){ 0 };
}

static void test_refused(void **state UNUSED)
{
	expect_format(NOW);
	store_close(st);
	st = NULL;
	if (strcmp(engine, "memory") == 0)
		return;
	expect_refused("adkfs 999", "adkfs 999");
}

static void test_unknown_word(void **state UNUSED)
{
	store_close(st);
	st = NULL;
	if (strcmp(engine, "memory") == 0)
		return;
	expect_refused(NOW " wings", "wings");
}

/* What format 1 had in place of rows of today. */

static uint64_t publish(const char *name, const char *text)
{
	CLEANUP(blob_close) struct blob blob;
	struct artifact_save save = { .scope = session,
				      .parent = session.session,
				      .name = name,
				      .full_name = name,
				      .blob = &blob,
				      .mime = "text/plain" };
	uint64_t bulk;

	blob_init(&blob, st);
	OK(blob_write(&blob, 0, span_of(text), &err));
	OK(blob_settle(&blob, false, &err));
	OK(artifact_publish(st, &save, NULL, &err));
	bulk = blob.own.number;
	blob_seal(&blob);
	return bulk;
}

struct refs {
	uint64_t bulk;
	uint64_t count; /* 0: no row */
};

static int get_refs(struct store_tx *tx, void *arg)
{
	CLEANUP(buf_release) struct buf value = { 0 };
	struct refs *refs = arg;
	struct key key = key_1(KEY_REF, refs->bulk);
	int r = store_get(tx, &key, &value);
	struct record_reader reader = { .left = buf_span(&value) };

	refs->count = record_take_number(&reader);
	return r == -ENOENT ? 0 : r;
}

static void expect_refs(uint64_t bulk, uint64_t count)
{
	struct refs refs = { .bulk = bulk };

	OK(store_view(st, get_refs, &refs, &err));
	assert_int_equal(refs.count, count);
}

static int forget_refs(struct store_tx *tx, void *arg)
{
	struct key key = key_1(KEY_REF, *(uint64_t *)arg);

	store_delete(tx, &key);
	return 0;
}

/* A reference has its row from the first one on to the last one. */
static void test_references(void **state UNUSED)
{
	uint64_t bulk = publish("a", "bytes");
	struct ref copy;

	expect_refs(bulk, 1);
	OK(session_fork(st, session, "copy", SPAN(""), &copy, &err));
	expect_refs(bulk, 2);
	OK(scope_remove(st, session, &err));
	expect_refs(bulk, 1);
	OK(scope_remove(st, copy, &err));
	expect_refs(bulk, 0);
}

/* Without its row, a bulk of a version is damage that is told, and its file stays. */
static void test_lost_row(void **state UNUSED)
{
	uint64_t bulk = publish("a", "bytes");
	int fd;

	OK(store_update(st, forget_refs, &bulk, &err));
	CODE(artifact_remove(st, (struct artifact_name){ session, session.session, "a" }, &err),
	     -EIO);
	fd = bulk_open(st, bulk, &err);
	assert_true(fd >= 0);
	(void)close(fd);
}

#define OLD_SEAL 300u

static int put_old_session(struct store_tx *tx, void *arg UNUSED)
{
	CLEANUP(buf_release) struct buf record = { 0 };
	struct key key = key_item(session.user, KEY_SESSION, session.session);
	uint64_t i;

	record_text(&record, SPAN("session"));
	for (i = 1; i < 12; i++)
		record_number(&record, i * 100);
	record_number(&record, OLD_SEAL);
	store_put(tx, &key, buf_span(&record));
	seal_delete(tx, session.session);
	return buf_check(&record, NULL);
}

/* The conversion may have been interrupted before or after each of its words. */
static void test_convert(void **state UNUSED)
{
	static const char *const olds[] = { "adkfs 1", "adkfs 2", "adkfs 2 pages refs",
					    "adkfs 2 seals" };
	uint64_t bulk[2];
	size_t i;

	if (strcmp(engine, "memory") == 0)
		skip();
	bulk[0] = publish("a", "one");
	bulk[1] = publish("b", "two");
	for (i = 0; i < ARRAY_SIZE(olds); i++) {
		bool refs = !strstr(olds[i], "refs");
		bool seals = !strstr(olds[i], "seals");

		if (refs)
			OK(store_update(st, forget_refs, &bulk[0], &err));
		if (seals)
			OK(store_update(st, put_old_session, NULL, &err));
		set_format(olds[i]);
		store_close(st);
		open_store();
		expect_format(NOW);
		expect_refs(bulk[0], 1);
		expect_refs(bulk[1], 1);
		if (seals)
			assert_int_equal(seal_now(), OLD_SEAL);
	}
}

#define MANY 700

static int count_row(void *arg, struct span key UNUSED, struct span value UNUSED)
{
	++*(size_t *)arg;
	return 0;
}

static size_t rows_under(uint64_t number)
{
	size_t count = 0;
	size_t i;

	for (i = 0; scope_spaces[i]; i++) {
		struct key prefix = key_1(scope_spaces[i], number);

		OK(store_rows(st, &prefix, &prefix, count_row, &count, &err));
	}
	return count;
}

/* A large session goes in steps; a start in the middle continues. */
static void test_large_removal(void **state UNUSED)
{
	char name[16];
	int i;

	for (i = 0; i < MANY; i++) {
		(void)snprintf(name, sizeof name, "f%d", i);
		(void)publish(name, "x");
	}
	assert_true(rows_under(session.session) > 3 * MANY);
	OK(scope_remove(st, session, &err));
	if (strcmp(engine, "memory") != 0) {
		store_close(st);
		open_store();
	}
	wait_dropped();
	assert_int_equal(rows_under(session.session), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_refused),    STORE_TEST(test_unknown_word),
		STORE_TEST(test_references), STORE_TEST(test_lost_row),
		STORE_TEST(test_convert),    STORE_TEST(test_large_removal),
	};

	RUN_ON_ENGINES(tests);
}
