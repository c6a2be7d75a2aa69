/*
 * Blobs: see blob.h.
 */
#include "store/artifact/blob.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define COPY_BYTES (1u << 20)
#define FIRST_GAP  4096          /* bytes between own extents that are copied first */
#define KEEP_BYTES (64ull << 20) /* a bulk that has more of the blob is not copied */
#define FEW_BULKS  (BLOB_BULKS_MAX / 4)

/* A bulk that is open for reading, by a blob and by reads that are under way. */
struct blob_file {
	atomic_uint refs;
	uint64_t bulk;
	int fd;
};

struct blob_part {
	struct blob_file *file; /* a reference; NULL: zeros */
	uint64_t at;
	size_t len;
};

static struct blob_file *file_new(uint64_t bulk, int fd)
{
	struct blob_file *f = calloc(1, sizeof *f);

	if (!f)
		return NULL;
	atomic_init(&f->refs, 1);
	f->bulk = bulk;
	f->fd = fd;
	return f;
}

static void file_unref(struct blob_file *f)
{
	if (!f || atomic_fetch_sub(&f->refs, 1) != 1)
		return;
	(void)close(f->fd);
	free(f);
}

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
		file_unref(b->files[i]);
		b->files[i] = NULL;
	}
}

void blob_close(struct blob *b)
{
	uint64_t unused = b->own.fd >= 0 && !b->own_is_public ? b->own_number : 0;

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
static int own_file(struct blob *b, struct blob_file **out, struct err *err)
{
	int r = bulk_drain(&b->own);
	int fd;

	if (r < 0)
		return err_errno(err, r, "the file cannot be written");
	fd = fcntl(b->own.fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return err_errno(err, -errno, "the file cannot be read");
	*out = file_new(b->own_number, fd);
	if (!*out)
		(void)close(fd);
	return *out ? 0 : err_nomem(err);
}

/* Open a bulk of a blob, unless it is open. *out has a reference for the caller. */
static int file_of(struct blob *b, uint64_t bulk, struct blob_file **out, struct err *err)
{
	struct blob_file **slot;
	size_t i;
	int fd;

	if (b->own.fd >= 0 && bulk == b->own_number)
		return own_file(b, out, err);
	for (i = 0; i < BLOB_FILES && !(b->files[i] && b->files[i]->bulk == bulk); i++)
		;
	slot = &b->files[i < BLOB_FILES ? i : b->next_file];
	if (i == BLOB_FILES) {
		fd = bulk_open(b->st, bulk, err);
		if (fd < 0)
			return fd;
		file_unref(*slot);
		*slot = file_new(bulk, fd);
		b->next_file = (b->next_file + 1) % BLOB_FILES;
		if (!*slot) {
			(void)close(fd);
			return err_nomem(err);
		}
	}
	atomic_fetch_add(&(*slot)->refs, 1);
	*out = *slot;
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
		file_unref(part.file);
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

/* After a power cut, a file that was not synced may be too short: the rest is zeros. */
static int read_part(const struct blob_part *part, char *to, struct err *err)
{
	size_t done = 0;

	while (part->file && done < part->len) {
		ssize_t n = pread(part->file->fd, to + done, part->len - done,
				  (off_t)(part->at + done));

		if (n < 0)
			return err_errno(err, -errno, "the file cannot be read");
		if (n == 0)
			break;
		done += (size_t)n;
	}
	memset(to + done, 0, part->len - done);
	return 0;
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
		else
			r = read_part(&part, out->data + out->len, err);
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

/* Make sure that the blob has a bulk of its own that may be written at `offset`. */
static int need_own(struct blob *b, uint64_t offset, struct err *err)
{
	uint64_t number = 0;
	int r;

	if (b->own.fd >= 0 && offset >= b->sealed)
		return 0;
	if (b->own.fd >= 0) { /* bytes of a version must not change */
		r = bulk_drain(&b->own);
		if (r < 0)
			return err_errno(err, r, "the file cannot be written");
		bulk_writer_close(&b->own);
		if (!b->own_is_public)
			bulk_remove(b->st,
				    b->own_number); /* when nobody has it pinned, and no version */
	}
	r = bulk_writer_open(&b->own, b->st, &number, err);
	if (r < 0) {
		bulk_writer_close(&b->own);
		return r;
	}
	b->own_number = number;
	b->own_is_public = false;
	b->sealed = 0;
	r = pin(b, number, err);
	if (r < 0) {
		bulk_writer_close(&b->own);
		bulk_remove(b->st, number);
	}
	return r;
}

static int put_own(struct blob *b, uint64_t offset, struct span data, struct err *err)
{
	int r = need_own(b, offset, err);

	if (r < 0)
		return r;
	r = bulk_write(&b->own, offset, data);
	if (r < 0)
		return err_errno(err, r, "the file cannot be written");
	r = extents_put(&b->map, (struct extent){ offset, data.len, b->own_number, offset });
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

/* Copy holes and extents of at most `gap` bytes to the blob's own bulk. */
static int join_over(struct blob *b, uint64_t gap, struct err *err)
{
	uint64_t offset = 0;
	size_t i = 0;
	int r = 0;

	while (r == 0 && i < b->map.count) {
		struct extent e = b->map.list[i];

		if (e.start > offset && offset && e.start - offset <= gap)
			r = copy_range(b, offset, e.start, err);
		if (r == 0 && e.bulk != b->own_number && e.len <= gap)
			r = copy_range(b, e.start, e.start + e.len, err);
		offset = e.start + e.len;
		i = extents_find(&b->map, offset);
	}
	return r;
}

/* Halve the number of extents by copying the shortest ones. */
static int coarsen(struct blob *b, struct err *err)
{
	uint64_t gap = FIRST_GAP;
	int r = 0;

	if (b->own.fd >= 0 && b->sealed) { /* the copy needs a bulk without sealed bytes */
		b->sealed = UINT64_MAX;
		r = need_own(b, 0, err);
	}
	while (r == 0 && b->map.count > BLOB_EXTENTS_MAX / 2) {
		r = join_over(b, gap, err);
		gap *= 4;
	}
	return r;
}

int blob_write(struct blob *b, uint64_t offset, struct span data, struct err *err)
{
	int r = put_own(b, offset, data, err);

	if (r == 0)
		b->size = MAX(b->size, offset + data.len);
	if (r == 0 && b->map.count > BLOB_EXTENTS_MAX)
		r = coarsen(b, err);
	return r;
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
	int r = other->own.fd >= 0 ? bulk_drain(&other->own) : 0;

	if (r < 0)
		return err_errno(err, r, "the file cannot be written");
	other->sealed = other->own.fd >= 0 ? other->own.size
					   : 0; /* shared bytes stay as they are */

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
	if (b->own.fd >= 0 && b->sealed) {
		b->sealed = UINT64_MAX;
		r = need_own(b, 0, err);
	}
	for (i = 0; r == 0 && i < count - FEW_BULKS && shares[i].bytes <= KEEP_BYTES; i++) {
		if (shares[i].bulk != b->own_number)
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
	r = bulk_drain(&b->own);
	if (r == 0 && to_disk && fdatasync(b->own.fd) < 0)
		r = -errno;
	return r < 0 ? err_errno(err, r, "the file cannot be written") : 0;
}

void blob_seal(struct blob *b)
{
	b->own_is_public = true;
	b->sealed = b->own.size;
}
