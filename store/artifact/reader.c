/*
 * Readers of bulks: see reader.h.
 */
#include "store/artifact/reader.h"

#include "base/mutex.h"
#include "store/artifact/bulk.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define BLOCKS_AT_ONCE 16 /* read into memory of our own, when the caller's is too small */

struct bulk_reader {
	atomic_uint refs;
	struct store *st; /* NULL: nothing is checked */
	uint64_t bulk;
	int fd;

	struct mutex lock;
	struct block_sum *blocks GUARDED_BY(lock); /* of one page; NULL: none is loaded */
	uint64_t page GUARDED_BY(lock);
};

struct bulk_reader *bulk_reader_of(uint64_t bulk, int fd)
{
	struct bulk_reader *rd = calloc(1, sizeof *rd);

	if (!rd)
		return NULL;
	atomic_init(&rd->refs, 1);
	mutex_init(&rd->lock);
	rd->bulk = bulk;
	rd->fd = fd;
	return rd;
}

int bulk_reader_open(struct store *st, uint64_t bulk, struct bulk_reader **out, struct err *err)
{
	int fd = bulk_open(st, bulk, err);

	if (fd < 0)
		return fd;
	*out = bulk_reader_of(bulk, fd);
	if (!*out) {
		(void)close(fd);
		return err_nomem(err);
	}
	(*out)->st = st;
	return 0;
}

struct bulk_reader *bulk_reader_ref(struct bulk_reader *rd)
{
	atomic_fetch_add(&rd->refs, 1);
	return rd;
}

void bulk_reader_unref(struct bulk_reader *rd) NO_THREAD_ANALYSIS /* no other reference is left */
{
	if (!rd || atomic_fetch_sub(&rd->refs, 1) != 1)
		return;
	(void)close(rd->fd);
	free(rd->blocks);
	mutex_release(&rd->lock);
	free(rd);
}

uint64_t bulk_reader_bulk(const struct bulk_reader *rd)
{
	return rd->bulk;
}

static int damaged(const struct bulk_reader *rd, uint64_t at, const char *what, struct err *err)
{
	char path[BULK_PATH_SIZE];

	bulk_path(rd->st, rd->bulk, path);
	return err_set(err, -EIO, "the stored bytes are damaged: %s at %llu of %s", what,
		       (unsigned long long)at, path);
}

static int load_page_locked(struct bulk_reader *rd, uint64_t page, struct err *err)
	REQUIRES(rd->lock)
{
	int r;

	if (!rd->blocks)
		rd->blocks = calloc(SUMS_PAGE, sizeof *rd->blocks);
	if (!rd->blocks)
		return err_nomem(err);
	r = sums_load(rd->st, rd->bulk, page, rd->blocks, err);
	if (r == 0) {
		rd->page = page;
		return 0;
	}
	free(rd->blocks);
	rd->blocks = NULL;
	return r == -ENOENT || r == -EIO
		       ? damaged(rd, page * SUMS_PAGE * SUMS_BLOCK, "no checksums", err)
		       : r;
}

/*
 * Get the sum of a block that covers at least `need` bytes. Sums that were loaded before the
 * bulk grew are loaded again.
 */
static int sum_of(struct bulk_reader *rd, uint64_t block, uint32_t need, struct block_sum *out,
		  struct err *err)
{
	uint64_t page = block / SUMS_PAGE;
	size_t i = block % SUMS_PAGE;
	int r = 0;

	mutex_lock(&rd->lock);
	if (!rd->blocks || rd->page != page || rd->blocks[i].covered < need)
		r = load_page_locked(rd, page, err);
	if (r == 0)
		*out = rd->blocks[i];
	mutex_unlock(&rd->lock);
	if (r == 0 && out->covered < need)
		r = damaged(rd, block * SUMS_BLOCK, "no checksum", err);
	return r;
}

static int read_all(struct bulk_reader *rd, uint64_t at, size_t len, char *to, struct err *err)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pread(rd->fd, to + done, len - done, (off_t)(at + done));

		if (n < 0)
			return err_errno(err, -errno, "the file cannot be read");
		if (n == 0)
			return damaged(rd, at + done, "the file ends", err);
		done += (size_t)n;
	}
	return 0;
}

/*
 * Read whole blocks from `block` on, which cover [at, at + len), with what their sums cover
 * besides. `to` has room for all of them.
 */
static int read_blocks(struct bulk_reader *rd, uint64_t block, size_t bytes, char *to,
		       struct err *err)
{
	struct block_sum sums[BLOCKS_AT_ONCE];
	size_t count = (bytes + SUMS_BLOCK - 1) / SUMS_BLOCK;
	size_t last = bytes - (count - 1) * SUMS_BLOCK;
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < count; i++)
		r = sum_of(rd, block + i, (uint32_t)(i + 1 < count ? SUMS_BLOCK : last), &sums[i],
			   err);
	if (r == 0)
		r = read_all(rd, block * SUMS_BLOCK,
			     (count - 1) * SUMS_BLOCK + sums[count - 1].covered, to, err);
	for (i = 0; r == 0 && i < count; i++) {
		if (!sums_match(&sums[i], to + i * SUMS_BLOCK))
			r = damaged(rd, (block + i) * SUMS_BLOCK, "a wrong checksum", err);
	}
	return r;
}

int bulk_read(struct bulk_reader *rd, uint64_t at, size_t len, char *to, struct err *err)
{
	char *room = NULL;
	int r = 0;

	if (!rd->st)
		return read_all(rd, at, len, to, err);
	while (r == 0 && len) {
		uint64_t block = at / SUMS_BLOCK;
		size_t skip = at % SUMS_BLOCK;
		size_t n = MIN(len, BLOCKS_AT_ONCE * SUMS_BLOCK - skip);
		bool direct = !skip && len >= SUMS_BLOCK;

		if (direct) { /* whole blocks go straight to the caller */
			n = n / SUMS_BLOCK * SUMS_BLOCK;
			r = read_blocks(rd, block, n, to, err);
		} else {
			n = MIN(n, SUMS_BLOCK - skip);
			if (!room)
				room = malloc(SUMS_BLOCK);
			r = room ? read_blocks(rd, block, skip + n, room, err) : err_nomem(err);
			if (r == 0)
				memcpy(to, room + skip, n);
		}
		at += n;
		to += n;
		len -= n;
	}
	free(room);
	return r;
}
