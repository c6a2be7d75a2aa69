/*
 * The bytes of artifacts: bulks that grow, their checksums, and blobs that refer to them.
 */
#include "store/artifact/artifact.h"
#include "store/artifact/bulk.h"
#include "tests/unit/store/store_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static unsigned draw(unsigned *seed)
{
	*seed = *seed * 1103515245 + 12345;
	return *seed >> 16;
}

static void fill(char *bytes, size_t n, unsigned seed)
{
	size_t i;

	for (i = 0; i < n; i++)
		bytes[i] = (char)(seed + i * 7 + (i >> 12));
}

static int save_sums(struct store_tx *tx, void *arg)
{
	struct bulk_writer *w = arg;

	return sums_save(&w->sums, tx, w->number);
}

/* A bulk of `size` bytes that were appended in pieces, with its sums. */
static uint64_t make_bulk(const char *bytes, size_t size)
{
	struct bulk_writer w;
	unsigned seed = 5;
	uint64_t number;
	size_t at = 0;

	OK(bulk_writer_open(&w, st, &err));
	number = w.number;
	while (at < size) {
		size_t n = draw(&seed) % 3 ? draw(&seed) % 9000 : draw(&seed) % 32768 * 8;

		n = MIN(n, size - at);
		OK(bulk_append(&w, (struct span){ bytes + at, n }, &err));
		at += n;
		if (draw(&seed) % 8 == 0)
			OK(bulk_drain(&w, &err));
	}
	OK(bulk_drain(&w, &err));
	assert_int_equal(w.size, size);
	OK(store_update(st, save_sums, &w, &err));
	bulk_writer_close(&w);
	return number;
}

static int try_read(uint64_t bulk, uint64_t at, size_t n, char *to)
{
	struct bulk_reader *rd = NULL;
	int r = bulk_reader_open(st, bulk, &rd, &err);

	if (r == 0)
		r = bulk_read(rd, at, n, to, &err);
	bulk_reader_unref(rd);
	return r;
}

#define BULK_BYTES (3u << 20)

/* What was appended is read, wherever a read begins and ends. */
static void test_append_and_read(void **state UNUSED)
{
	char *bytes = malloc(BULK_BYTES);
	char *got = malloc(BULK_BYTES);
	unsigned seed = 9;
	uint64_t bulk;
	int i;

	fill(bytes, BULK_BYTES, 1);
	bulk = make_bulk(bytes, BULK_BYTES - 100);
	OK(try_read(bulk, 0, BULK_BYTES - 100, got));
	assert_memory_equal(got, bytes, BULK_BYTES - 100);
	for (i = 0; i < 300; i++) {
		size_t at = (draw(&seed) * 64 + draw(&seed) % 64) % (BULK_BYTES - 100);
		size_t n = draw(&seed) * 8u;

		n = MIN(n, BULK_BYTES - 100 - at);
		OK(try_read(bulk, at, n, got));
		assert_memory_equal(got, bytes + at, n);
	}
	CODE(try_read(bulk, BULK_BYTES - 200, 200, got), -EIO); /* past the end */
	free(bytes);
	free(got);
}

static void flip(uint64_t bulk, uint64_t at)
{
	char path[BULK_PATH_SIZE];
	char c;
	int fd;

	bulk_path(st, bulk, path);
	fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &c, 1, (off_t)at), 1);
	c ^= 4;
	assert_int_equal(pwrite(fd, &c, 1, (off_t)at), 1);
	(void)close(fd);
}

/* One wrong bit is found, and only its block cannot be read. */
static void test_damage(void **state UNUSED)
{
	static const uint64_t places[] = { 0, 65535, 65536, 200000, 299999 };
	char *bytes = malloc(300000);
	char *got = malloc(300000);
	char path[BULK_PATH_SIZE];
	uint64_t bulk;
	size_t i;

	fill(bytes, 300000, 2);
	bulk = make_bulk(bytes, 300000);
	bulk_path(st, bulk, path);
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		uint64_t other = places[i] < SUMS_BLOCK ? SUMS_BLOCK : 0;

		flip(bulk, places[i]);
		assert_int_equal(try_read(bulk, 0, 300000, got), -EIO);
		assert_non_null(strstr(err.text, path));
		assert_non_null(strstr(err.text, "wrong checksum"));
		CODE(try_read(bulk, places[i], 1, got), -EIO);
		OK(try_read(bulk, other, SUMS_BLOCK, got));
		assert_memory_equal(got, bytes + other, SUMS_BLOCK);
		flip(bulk, places[i]);
		OK(try_read(bulk, 0, 300000, got));
	}
	assert_int_equal(truncate(path, 250000), 0);
	CODE(try_read(bulk, 249000, 10, got), -EIO);
	OK(try_read(bulk, 0, SUMS_BLOCK, got));
	free(bytes);
	free(got);
}

#define HUGE_BULK (SUMS_PAGE * (size_t)SUMS_BLOCK + 3 * SUMS_BLOCK + 5)

/* More blocks than a row of sums has. */
static void test_two_pages(void **state UNUSED)
{
	char *bytes = malloc(HUGE_BULK);
	char *got = malloc(SUMS_BLOCK * 4);
	uint64_t at = HUGE_BULK - SUMS_BLOCK * 4;
	uint64_t bulk;

	fill(bytes, HUGE_BULK, 3);
	bulk = make_bulk(bytes, HUGE_BULK);
	OK(try_read(bulk, at, SUMS_BLOCK * 4, got));
	assert_memory_equal(got, bytes + at, SUMS_BLOCK * 4);
	flip(bulk, HUGE_BULK - 1);
	CODE(try_read(bulk, HUGE_BULK - 3, 2, got), -EIO);
	OK(try_read(bulk, 0, 100, got));
	assert_memory_equal(got, bytes, 100);
	free(bytes);
	free(got);
}

static int count_row(void *arg, struct span key UNUSED, struct span value UNUSED)
{
	++*(size_t *)arg;
	return 0;
}

static size_t rows_of(enum key_space space)
{
	struct key prefix = key_space(space);
	size_t count = 0;

	OK(store_rows(st, &prefix, &prefix, count_row, &count, &err));
	return count;
}

/* A bulk goes with its sums. */
static void test_sums_go(void **state UNUSED)
{
	char bytes[5000];
	uint64_t bulk;

	fill(bytes, sizeof bytes, 4);
	bulk = make_bulk(bytes, sizeof bytes);
	assert_int_equal(rows_of(KEY_SUMS), 1);
	bulk_remove(st, bulk);
	assert_int_equal(rows_of(KEY_SUMS), 0);
	assert_int_equal(rows_of(KEY_PENDING), 0);
}

static void save_blob(struct blob *blob, struct artifact_info *out)
{
	struct artifact_save save = { .scope = session,
				      .parent = session.session,
				      .name = "f",
				      .full_name = "f",
				      .blob = blob,
				      .mime = "text/plain" };

	OK(blob_settle(blob, false, &err));
	OK(artifact_publish(st, &save, out, &err));
	blob_seal(blob);
}

static void expect_version(const struct artifact_info *a, uint64_t n, const char *want, size_t size)
{
	CLEANUP(blob_close) struct blob blob;
	CLEANUP(buf_release) struct buf got = { 0 };

	blob_init(&blob, st);
	OK(artifact_blob(st, a->history, n, &blob, NULL, &err));
	assert_int_equal(blob.size, size);
	OK(blob_read(&blob, 0, size, &got, &err));
	assert_int_equal(got.len, size);
	assert_memory_equal(got.data, want, size);
}

/* One open that saves again and again: its versions share one bulk, and keep their bytes. */
static void test_growing_versions(void **state UNUSED)
{
	CLEANUP(blob_close) struct blob blob;
	struct artifact_info a;
	char bytes[90000];
	size_t n;

	fill(bytes, sizeof bytes, 5);
	blob_init(&blob, st);
	for (n = 0; n < 9; n++) {
		OK(blob_write(&blob, n * 10000, (struct span){ bytes + n * 10000, 10000 }, &err));
		save_blob(&blob, &a);
	}
	for (n = 1; n <= 9; n++)
		expect_version(&a, n, bytes, n * 10000);
	/* The last one is written over in the middle. */
	OK(blob_write(&blob, 500, SPAN("middle"), &err));
	save_blob(&blob, &a);
	expect_version(&a, 9, bytes, 90000);
	memcpy(bytes + 500, "middle", 6);
	expect_version(&a, 10, bytes, 90000);
	assert_int_equal(rows_of(KEY_REF), 1);
}

/* Bytes that were shared before they were saved are read with sums too. */
static void test_share_unsaved(void **state UNUSED)
{
	struct artifact_info a;
	struct blob from;
	struct blob to;
	char bytes[3000];

	fill(bytes, sizeof bytes, 6);
	blob_init(&from, st);
	blob_init(&to, st);
	OK(blob_write(&from, 0, (struct span){ bytes, sizeof bytes }, &err));
	OK(blob_share(&to, 0, &from, 1000, 2000, &err));
	OK(blob_write(&from, 0, SPAN("other bytes"), &err));
	blob_close(&from);
	save_blob(&to, &a);
	blob_close(&to);
	expect_version(&a, 1, bytes + 1000, 2000);
}

#define SPARSE_WRITES 20000

/* Writes far from each other take room for what they write, and not for the holes. */
static void test_sparse(void **state UNUSED)
{
	CLEANUP(blob_close) struct blob blob;
	CLEANUP(blob_close) struct blob saved;
	struct artifact_info a;
	uint64_t i;

	blob_init(&blob, st);
	blob_init(&saved, st);
	for (i = 0; i < SPARSE_WRITES; i++) /* in a shuffled order */
		OK(blob_write(&blob, i * 7919 % SPARSE_WRITES * 300000, SPAN("x"), &err));
	assert_int_equal(blob.own.size, SPARSE_WRITES);
	save_blob(&blob, &a);
	OK(artifact_blob(st, a.history, 1, &saved, NULL, &err));
	assert_int_equal(saved.map.count, SPARSE_WRITES);
	assert_true(rows_of(KEY_MAP) >= SPARSE_WRITES / 1024);
	for (i = 0; i < SPARSE_WRITES; i += 777) {
		CLEANUP(buf_release) struct buf got = { 0 };

		OK(blob_read(&saved, i * 300000, 2, &got, &err));
		assert_memory_equal(got.data, "x", i + 1 < SPARSE_WRITES ? 2 : 1);
	}
}

#define PAGE 4096u

/* A file that is written over all the time does not fill the disk. */
static void test_written_over(void **state UNUSED)
{
	CLEANUP(blob_close) struct blob blob;
	CLEANUP(buf_release) struct buf got = { 0 };
	char page[PAGE];
	size_t i;

	blob_init(&blob, st);
	for (i = 0; i < 50000; i++) { /* 200 MB */
		fill(page, sizeof page, (unsigned)i);
		OK(blob_write(&blob, i % 10 * PAGE, (struct span){ page, PAGE }, &err));
		assert_true(blob.own.size < 100 << 20);
	}
	OK(blob_read(&blob, 0, 10 * PAGE, &got, &err));
	for (i = 0; i < 10; i++) {
		fill(page, sizeof page, (unsigned)(49990 + i));
		assert_memory_equal(got.data + i * PAGE, page, PAGE);
	}
	assert_int_equal(rows_of(KEY_PENDING), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_append_and_read),  STORE_TEST(test_damage),
		STORE_TEST(test_two_pages),        STORE_TEST(test_sums_go),
		STORE_TEST(test_growing_versions), STORE_TEST(test_share_unsaved),
		STORE_TEST(test_sparse),           STORE_TEST(test_written_over),
	};

	RUN_ON_ENGINES(tests);
}
