/*
 * Conversions: see convert.h.
 */
#include "store/artifact/convert.h"

#include "store/artifact/bulk.h"
#include "store/artifact/version.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define PIECE (1u << 20) /* bytes of a file that are read at once */

static int convert_pages(struct store_tx *tx, struct span key, struct span value)
{
	(void)value;
	return version_convert(tx, key_first_number(key), key_last_number(key));
}

int artifact_convert_pages(struct store *st, struct err *err)
{
	struct key prefix = key_space(KEY_VERSION);

	return store_convert(st, &prefix, convert_pages, err);
}

/* A bulk of one version is given its row. Those of several versions have theirs. */
static int note_ref(struct store_tx *tx, uint64_t bulk)
{
	CLEANUP(buf_release) struct buf value = { 0 };
	struct key key = key_1(KEY_REF, bulk);
	int r = store_get(tx, &key, &value);

	if (r == -ENOENT) {
		bulk_put_refs(tx, bulk, 1);
		r = 0;
	}
	return r;
}

static int convert_version(struct store_tx *tx, struct span key, struct span value)
{
	CLEANUP(extents_release) struct extents map = { 0 };
	CLEANUP(buf_release) struct buf bulks = { 0 };
	struct version_info v;
	const uint64_t *list;
	size_t count;
	size_t i;
	int r = version_load(tx, key_first_number(key), key_last_number(key), &v, NULL);

	(void)value;
	if (r == 0)
		r = version_map(tx, key_first_number(key), &v, &map);
	if (r < 0)
		return r;
	extents_bulks(&map, &bulks);
	r = buf_check(&bulks, tx->err);
	list = BUF_LIST(uint64_t, &bulks, &count);
	for (i = 0; r == 0 && i < count; i++)
		r = note_ref(tx, list[i]);
	return r;
}

int artifact_convert_refs(struct store *st, struct err *err)
{
	struct key prefix = key_space(KEY_VERSION);

	return store_convert(st, &prefix, convert_version, err);
}

/* Summing the files of format 1. */
struct summing {
	uint64_t bulk;
	struct sums sums;
	uint64_t bytes; /* of all files so far */
};

static int look_for_sums(struct store_tx *tx, void *arg)
{
	CLEANUP(buf_release) struct buf row = { 0 };
	const struct summing *sm = arg;
	struct key key = key_2(KEY_SUMS, sm->bulk, 0);

	return store_get(tx, &key, &row);
}

static int save_sums(struct store_tx *tx, void *arg)
{
	const struct summing *sm = arg;

	return sums_save(&sm->sums, tx, sm->bulk);
}

static int sum_file(struct store *st, struct summing *sm, int fd, char *piece, struct err *err)
{
	ssize_t n;
	int r = 0;

	while (r == 0 && (n = read(fd, piece, PIECE)) > 0) {
		r = sums_append(&sm->sums, st, sm->bulk, (struct span){ piece, (size_t)n }, err);
		sm->bytes += (uint64_t)n;
		store_progress(st, sm->bytes >> 20, "MiB");
	}
	if (r == 0 && n < 0)
		r = err_errno(err, -errno, "a file of the store cannot be read");
	return r;
}

/* A file that is lost stays lost: who reads it is told. */
static int convert_bulk(struct store *st, struct summing *sm, char *piece, struct err *err)
{
	int fd;
	int r = store_view(st, look_for_sums, sm, err);

	if (r != -ENOENT)
		return r;
	fd = bulk_open(st, sm->bulk, NULL);
	if (fd < 0)
		return fd == -ENOENT ? 0 : err_errno(err, fd, "a file of the store cannot be read");
	r = sum_file(st, sm, fd, piece, err);
	(void)close(fd);
	if (r == 0)
		r = store_update(st, save_sums, sm, err);
	sums_release(&sm->sums);
	return r;
}

int artifact_convert_sums(struct store *st, struct err *err)
{
	CLEANUP(buf_release) struct buf numbers = { 0 };
	struct key prefix = key_space(KEY_REF);
	struct summing sm = { 0 };
	char *piece = malloc(PIECE);
	const uint64_t *list;
	size_t count;
	size_t i;
	int r = piece ? store_rows(st, &prefix, &prefix, store_note_number, &numbers, err)
		      : err_nomem(err);

	list = BUF_LIST(uint64_t, &numbers, &count);
	for (i = 0; r == 0 && i < count; i++) {
		sm.bulk = list[i];
		r = convert_bulk(st, &sm, piece, err);
	}
	free(piece);
	return r;
}
