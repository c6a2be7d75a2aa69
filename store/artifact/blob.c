/*
 * Blobs: see blob.h.
 */
#include "store/artifact/blob.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define COPY_BYTES (1u << 20)
#define FIRST_GAP  4096          /* extents and holes of this size are joined first */
#define KEEP_BYTES (64ull << 20) /* a bulk that has more of the blob is not copied */
#define FEW_BULKS  (BLOB_BULKS_MAX / 4)

/* The own bulk is copied when it is larger than so many bytes and so many times the blob. */
#define GARBAGE_FIRST (64ull << 20)
#define GARBAGE_TIMES 3

struct blob_part {
	struct bulk_reader *file; /* a reference; NULL: zeros */
	uint64_t at;
	size_t len;
};

void blob_init(struct blob *b, struct store *st)
{
	*b = (struct blob){ .st = st, .own = { .fd = -1, .direct = -1 } };
}

static bool has_pinned(const struct blob *b, uint64_t number)
{
	size_t count;
	const uint64_t *list = BUF_LIST(uint64_t, &b->pinned, &count);
	size_t i;

	for (i = 0; i < count && list[i] != number; i++)
		;
	return i < count;
}

static int pin(struct blob *b, uint64_t number, struct err *err)
{
	int r;

	if (has_pinned(b, number))
		return 0;
	if (!buf_reserve(&b->pinned, sizeof number))
		return err_nomem(err);
	r = bulk_pin(b->st, number);
	if (r < 0)
		return err_nomem(err);
	buf_add(&b->pinned, &number, sizeof number);
	return 0;
}

static void unpin(struct blob *b, uint64_t number)
{
	size_t count;
	uint64_t *list = BUF_LIST(uint64_t, &b->pinned, &count);
	size_t i;

	for (i = 0; i < count && list[i] != number; i++)
		;
	if (i == count)
		return;
	list[i] = list[count - 1];
	b->pinned.len -= sizeof *list;
	bulk_unpin(b->st, number);
}

static void unpin_all(struct blob *b)
{
	size_t count;
	const uint64_t *list = BUF_LIST(uint64_t, &b->pinned, &count);
	size_t i;

	for (i = 0; i < count; i++)
		bulk_unpin(b->st, list[i]);
	buf_release(&b->pinned);
}

static void close_files(struct blob *b)
{
	size_t i;

	for (i = 0; i < BLOB_FILES; i++) {
		bulk_reader_unref(b->files[i]);
		b->files[i] = NULL;
	}
}

void blob_close(struct blob *b)
{
	uint64_t unused = b->own.fd >= 0 && !b->own_is_public ? b->own.number : 0;

	if (!b->st)
		return;
	bulk_writer_close(&b->own);
	close_files(b);
	unpin_all(b);
	if (unused)
		bulk_remove(b->st, unused);
	extents_release(&b->map);
	blob_init(b, b->st);
}

int blob_load(struct blob *b, const struct extents *map, uint64_t size, struct err *err)
{
	CLEANUP(buf_release) struct buf numbers = { 0 };
	const uint64_t *list;
	size_t count;
	size_t i;
	int r = extents_copy(&b->map, map);

	if (r < 0)
		return err_nomem(err);
	b->size = size;
	extents_bulks(map, &numbers);
	r = buf_check(&numbers, err);
	list = BUF_LIST(uint64_t, &numbers, &count);
	for (i = 0; r == 0 && i < count; i++)
		r = pin(b, list[i], err);
	return r;
}

/* The blob's own bulk. It gets another descriptor, because this one may close during a read. */
static int own_file(struct blob *b, struct bulk_reader **out, struct err *err)
{
	int r = bulk_drain(&b->own, err);
	int fd;

	if (r < 0)
		return r;
	fd = fcntl(b->own.fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return err_errno(err, -errno, "the file cannot be read");
	*out = bulk_reader_of(b->own.number, fd);
	if (!*out)
		(void)close(fd);
	return *out ? 0 : err_nomem(err);
}

/* Open a bulk of a blob, unless it is open. *out has a reference for the caller. */
static int file_of(struct blob *b, uint64_t bulk, struct bulk_reader **out, struct err *err)
{
	struct bulk_reader *opened;
	size_t i;
	int r;

	if (b->own.fd >= 0 && bulk == b->own.number)
		return own_file(b, out, err);
	for (i = 0; i < BLOB_FILES && !(b->files[i] && bulk_reader_bulk(b->files[i]) == bulk); i++)
		;
	if (i == BLOB_FILES) {
		r = bulk_reader_open(b->st, bulk, &opened, err);
		if (r < 0)
			return r;
		i = b->next_file;
		bulk_reader_unref(b->files[i]);
		b->files[i] = opened;
		b->next_file = (b->next_file + 1) % BLOB_FILES;
	}
	*out = bulk_reader_ref(b->files[i]);
	return 0;
}

static int add_part(struct blob *b, struct blob_plan *plan, const struct extent *e, uint64_t offset,
		    size_t len, struct err *err)
{
	struct blob_part part = { .len = len };
	int r;

	if (!buf_reserve(&plan->parts, sizeof part))
		return err_nomem(err);
	if (e) {
		r = file_of(b, e->bulk, &part.file, err);
		if (r < 0)
			return r;
		part.at = e->at + (offset - e->start);
	}
	buf_add(&plan->parts, &part, sizeof part);
	return 0;
}

static void plan_release(struct blob_plan *plan)
{
	size_t i;

	for (i = 0; i < plan->parts.len; i += sizeof(struct blob_part)) {
		struct blob_part part;

		memcpy(&part, plan->parts.data + i, sizeof part);
		bulk_reader_unref(part.file);
	}
	buf_release(&plan->parts);
}

int blob_plan(struct blob *b, uint64_t offset, size_t size, struct blob_plan *plan, struct err *err)
{
	uint64_t end = offset < b->size ? offset + MIN(size, b->size - offset) : offset;
	size_t i = extents_find(&b->map, offset);
	int r = 0;

	*plan = (struct blob_plan){ 0 };
	while (r == 0 && offset < end) {
		const struct extent *e = i < b->map.count ? &b->map.list[i] : NULL;
		bool hole = !e || e->start > offset;
		uint64_t to = !e ? end : hole ? e->start : e->start + e->len;

		to = MIN(to, end);
		r = add_part(b, plan, hole ? NULL : e, offset, to - offset, err);
		offset = to;
		i += !hole;
	}
	if (r < 0)
		plan_release(plan);
	return r;
}

int blob_plan_read(struct blob_plan *plan, struct buf *out, struct err *err)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < plan->parts.len; i += sizeof(struct blob_part)) {
		struct blob_part part;

		memcpy(&part, plan->parts.data + i, sizeof part);
		if (!buf_reserve(out, part.len))
			r = err_nomem(err);
		else if (part.file)
			r = bulk_read(part.file, part.at, part.len, out->data + out->len, err);
		else
			memset(out->data + out->len, 0, part.len);
		if (r == 0)
			out->len += part.len;
	}
	plan_release(plan);
	return r;
}

int blob_read(struct blob *b, uint64_t offset, size_t size, struct buf *out, struct err *err)
{
	struct blob_plan plan;
	int r = blob_plan(b, offset, size, &plan, err);

	return r < 0 ? r : blob_plan_read(&plan, out, err);
}

/* Make sure that the blob has a bulk of its own. */
static int need_own(struct blob *b, struct err *err)
{
	int r;

	if (b->own.fd >= 0)
		return 0;
	r = bulk_writer_open(&b->own, b->st, err);
	if (r < 0) {
		bulk_writer_close(&b->own);
		return r;
	}
	b->own_is_public = false;
	r = pin(b, b->own.number, err);
	if (r < 0) {
		bulk_remove(b->st, b->own.number);
		bulk_writer_close(&b->own);
	}
	return r;
}

static int put_own(struct blob *b, uint64_t offset, struct span data, struct err *err)
{
	int r = need_own(b, err);
	uint64_t at = b->own.size;

	if (r == 0)
		r = bulk_append(&b->own, data, err);
	if (r < 0)
		return r;
	r = extents_put(&b->map, (struct extent){ offset, data.len, b->own.number, at });
	return r < 0 ? err_nomem(err) : 0;
}

/* Copy [from, to) to the blob's own bulk. */
static int copy_range(struct blob *b, uint64_t from, uint64_t to, struct err *err)
{
	CLEANUP(buf_release) struct buf piece = { 0 };
	int r = 0;

	while (r == 0 && from < to) {
		buf_clear(&piece);
		r = blob_read(b, from, MIN(to - from, COPY_BYTES), &piece, err);
		if (r == 0)
			r = put_own(b, from, buf_span(&piece), err);
		from += piece.len;
	}
	return r;
}

/* The end of the run of short extents, and short holes between them, that begins at index i. */
static uint64_t end_of_run(const struct extents *map, size_t i, uint64_t gap)
{
	uint64_t end = map->list[i].start + map->list[i].len;

	if (map->list[i].len > gap)
		return end;
	while (++i < map->count && map->list[i].start - end <= gap && map->list[i].len <= gap)
		end = map->list[i].start + map->list[i].len;
	return end;
}

/* Copy each run of extents and holes of at most `gap` bytes to one extent. */
static int join_over(struct blob *b, uint64_t gap, struct err *err)
{
	size_t i = 0;
	int r = 0;

	while (r == 0 && i < b->map.count) {
		uint64_t start = b->map.list[i].start;
		uint64_t end = end_of_run(&b->map, i, gap);

		if (end > start + b->map.list[i].len)
			r = copy_range(b, start, end, err);
		i = extents_find(&b->map, end);
	}
	return r;
}

/* Halve the number of extents by copying the shortest ones. */
static int coarsen(struct blob *b, struct err *err)
{
	uint64_t gap = FIRST_GAP;
	int r = 0;

	while (r == 0 && b->map.count > BLOB_EXTENTS_MAX / 2) {
		r = join_over(b, gap, err);
		gap *= 4;
	}
	return r;
}

static int save_sums(struct store_tx *tx, void *arg)
{
	return blob_save_sums(arg, tx);
}

/* Before others refer to bytes of the blob's own bulk: they must be in its file, with sums. */
static int share_own(struct blob *b, struct err *err)
{
	int r;

	if (b->own.fd < 0)
		return 0;
	r = bulk_drain(&b->own, err);
	return r < 0 ? r : store_update(b->st, save_sums, b, err);
}

/* Copy the bytes that come from a bulk. */
static int copy_from_bulk(struct blob *b, uint64_t bulk, struct err *err)
{
	uint64_t offset = 0;
	size_t i;
	int r = 0;

	while (r == 0 && (i = extents_find(&b->map, offset)) < b->map.count) {
		struct extent e = b->map.list[i];

		offset = e.start + e.len;
		if (e.bulk == bulk)
			r = copy_range(b, e.start, offset, err);
	}
	return r;
}

/* Most bytes of the blob's own bulk were written over: copy the others to a new one. */
static int renew_own(struct blob *b, struct err *err)
{
	struct bulk_writer old;
	int r = share_own(b, err);

	if (r < 0)
		return r;
	old = b->own;
	b->own = (struct bulk_writer){ .fd = -1, .direct = -1 };
	r = copy_from_bulk(b, old.number, err);
	bulk_remove(b->st, old.number); /* with its last pin, unless a version has it */
	if (r == 0) {
		close_files(b);
		unpin(b, old.number);
	}
	bulk_writer_close(&old);
	return r;
}

int blob_write(struct blob *b, uint64_t offset, struct span data, struct err *err)
{
	int r = put_own(b, offset, data, err);

	if (r < 0)
		return r;
	b->size = MAX(b->size, offset + data.len);
	if (b->map.count > BLOB_EXTENTS_MAX)
		return coarsen(b, err);
	return b->own.size > GARBAGE_FIRST + GARBAGE_TIMES * b->size ? renew_own(b, err) : 0;
}

int blob_truncate(struct blob *b, uint64_t size, struct err *err)
{
	int r = extents_cut(&b->map, size, UINT64_MAX);

	b->size = r < 0 ? b->size : size;
	return r < 0 ? err_nomem(err) : 0;
}

int blob_clear(struct blob *b, uint64_t from, uint64_t to, struct err *err)
{
	return extents_cut(&b->map, from, to) < 0 ? err_nomem(err) : 0;
}

int blob_share(struct blob *b, uint64_t to, struct blob *other, uint64_t from, uint64_t len,
	       struct err *err)
{
	CLEANUP(extents_release) struct extents taken = { 0 };
	uint64_t end = from + len;
	size_t i;
	int r = share_own(other, err);

	if (r < 0)
		return r;
	for (i = extents_find(&other->map, from); r == 0 && i < other->map.count; i++) {
		struct extent e = other->map.list[i];
		uint64_t first = MAX(e.start, from);
		uint64_t last = MIN(e.start + e.len, end);

		if (first >= end)
			break;
		e.at += first - e.start;
		e.len = last - first;
		e.start = to + (first - from);
		r = extents_put(&taken, e);
	}
	if (r == 0)
		r = extents_cut(&b->map, to, to + len);
	for (i = 0; r == 0 && i < taken.count; i++) {
		r = pin(b, taken.list[i].bulk, err);
		if (r == 0)
			r = extents_put(&b->map, taken.list[i]);
	}
	if (r < 0)
		return err_nomem(err);
	b->size = MAX(b->size, to + len);
	return b->map.count > BLOB_EXTENTS_MAX ? coarsen(b, err) : 0;
}

int blob_seek(const struct blob *b, uint64_t offset, bool data, uint64_t *out)
{
	size_t i = extents_find(&b->map, offset);

	if (offset >= b->size)
		return -ENXIO;
	if (data) {
		if (i == b->map.count)
			return -ENXIO;
		*out = MAX(offset, b->map.list[i].start);
		return 0;
	}
	while (i < b->map.count && b->map.list[i].start <= offset)
		offset = b->map.list[i].start + b->map.list[i].len, i++;
	*out = offset;
	return 0;
}

struct share_of_bulk {
	uint64_t bulk;
	uint64_t bytes;
};

static int compare_shares(const void *a, const void *b)
{
	const struct share_of_bulk *x = a;
	const struct share_of_bulk *y = b;

	return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

/* A chain of small changes leaves many bulks: copy those with the least bytes. */
static int use_fewer_bulks(struct blob *b, struct err *err)
{
	CLEANUP(buf_release) struct buf numbers = { 0 };
	struct share_of_bulk *shares;
	size_t count;
	size_t i;
	size_t j;
	int r = 0;

	extents_bulks(&b->map, &numbers);
	count = numbers.len / sizeof(uint64_t);
	if (count <= BLOB_BULKS_MAX)
		return buf_check(&numbers, err);
	shares = calloc(count, sizeof *shares);
	if (!shares)
		return err_nomem(err);
	for (i = 0; i < count; i++) {
		memcpy(&shares[i].bulk, numbers.data + i * sizeof(uint64_t), sizeof(uint64_t));
		for (j = 0; j < b->map.count; j++)
			shares[i].bytes += b->map.list[j].bulk == shares[i].bulk
						   ? b->map.list[j].len
						   : 0;
	}
	qsort(shares, count, sizeof *shares, compare_shares);
	for (i = 0; r == 0 && i < count - FEW_BULKS && shares[i].bytes <= KEEP_BYTES; i++) {
		if (shares[i].bulk != b->own.number)
			r = copy_from_bulk(b, shares[i].bulk, err);
	}
	free(shares);
	return r;
}

int blob_settle(struct blob *b, bool to_disk, struct err *err)
{
	int r = use_fewer_bulks(b, err);

	if (r < 0 || b->own.fd < 0)
		return r;
	r = bulk_drain(&b->own, err);
	if (r == 0 && to_disk && fdatasync(b->own.fd) < 0)
		r = err_errno(err, -errno, "the file cannot be written");
	return r;
}

int blob_save_sums(const struct blob *b, struct store_tx *tx)
{
	return b->own.fd < 0 ? 0 : sums_save(&b->own.sums, tx, b->own.number);
}

void blob_seal(struct blob *b)
{
	b->own_is_public = true;
}
