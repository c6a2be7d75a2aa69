/*
 * Bulks: see bulk.h. The file of bulk N is bulk/XX/N in hex; XX is the last byte of N.
 *
 * Rows: KEY_REF bulk -> how many versions refer to it; KEY_PENDING bulk -> node. Whoever adds or
 * drops a reference gets and puts the KEY_REF row, so that two of them cannot miss each other.
 */
#include "store/artifact/bulk.h"

#include "store/tx/key.h"
#include "store/tx/record.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void folder_path(const struct store *st, uint64_t number, char path[BULK_PATH_SIZE])
{
	(void)snprintf(path, BULK_PATH_SIZE, "%s/bulk/%02x", store_folder(st),
		       (unsigned)(number & 0xff));
}

void bulk_path(const struct store *st, uint64_t number, char path[BULK_PATH_SIZE])
{
	(void)snprintf(path, BULK_PATH_SIZE, "%s/bulk/%02x/%llx", store_folder(st),
		       (unsigned)(number & 0xff), (unsigned long long)number);
}

static void put_pending(struct store_tx *tx, uint64_t number)
{
	CLEANUP(buf_release) struct buf value = { 0 };
	struct key key = key_1(KEY_PENDING, number);

	record_number(&value, store_node(tx->st));
	store_put(tx, &key, buf_span(&value));
}

static int note_pending(struct store_tx *tx, void *arg)
{
	put_pending(tx, *(uint64_t *)arg);
	return 0;
}

static int open_new(struct store *st, uint64_t number)
{
	char path[BULK_PATH_SIZE];
	char folder[BULK_PATH_SIZE];
	int fd;

	bulk_path(st, number, path);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0 || errno != ENOENT)
		return fd;
	(void)snprintf(folder, sizeof folder, "%s/bulk", store_folder(st));
	(void)mkdir(folder, 0700); /* open() below reports an error */
	folder_path(st, number, folder);
	(void)mkdir(folder, 0700);
	return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

/* A new empty bulk, pending. Returns a descriptor for reading and writing, or -errno. */
static int create_bulk(struct store *st, uint64_t *number, struct err *err)
{
	uint64_t n = store_new_number(st, err);
	int fd;
	int r;

	if (!n)
		return -EIO;
	r = store_update(st, note_pending, &n, err);
	if (r < 0)
		return r;
	fd = open_new(st, n);
	if (fd < 0)
		return err_errno(err, -errno, "the store cannot make a file");
	*number = n;
	return fd;
}

int bulk_open(struct store *st, uint64_t number, struct err *err)
{
	char path[BULK_PATH_SIZE];
	int fd;

	bulk_path(st, number, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? err_errno(err, -errno, "the store has lost the file %s", path) : fd;
}

int bulk_writer_open(struct bulk_writer *w, struct store *st, struct err *err)
{
	char path[BULK_PATH_SIZE];

	*w = (struct bulk_writer){ .st = st, .fd = -1, .direct = -1 };
	w->fd = create_bulk(st, &w->number, err);
	if (w->fd < 0)
		return w->fd;
	bulk_path(st, w->number, path);
	w->direct = open(path, O_WRONLY | O_DIRECT | O_CLOEXEC);
	return 0;
}

void bulk_writer_close(struct bulk_writer *w)
{
	if (w->fd >= 0)
		(void)close(w->fd);
	if (w->direct >= 0)
		(void)close(w->direct);
	free(w->buffer);
	sums_release(&w->sums);
	*w = (struct bulk_writer){ .fd = -1, .direct = -1 };
}

static int write_all(int fd, const char *data, size_t len, uint64_t offset)
{
	while (len) {
		ssize_t n = pwrite(fd, data, len, (off_t)offset);

		if (n < 0)
			return -errno;
		data += n;
		len -= (size_t)n;
		offset += (size_t)n;
	}
	return 0;
}

/* The bytes at the start of the buffer that can bypass the page cache. */
static size_t direct_part(const struct bulk_writer *w)
{
	if (w->direct < 0 || w->start % BULK_ALIGN || w->start + w->len < BULK_SMALL)
		return 0;
	return w->len / BULK_ALIGN * BULK_ALIGN;
}

int bulk_drain(struct bulk_writer *w, struct err *err)
{
	size_t whole = direct_part(w);
	int r = 0;

	if (!w->len)
		return 0;
	if (whole)
		r = write_all(w->direct, w->buffer, whole, w->start);
	if (r == -EINVAL) { /* the file system refuses O_DIRECT */
		whole = 0;
		r = 0;
	}
	if (r == 0)
		r = write_all(w->fd, w->buffer + whole, w->len - whole, w->start + whole);
	if (r < 0)
		return err_errno(err, r, "the file cannot be written");
	w->start += w->len;
	w->len = 0;
	return 0;
}

/* How many bytes the buffer takes until it is written, so that the next part is aligned again. */
static size_t room_in_buffer(const struct bulk_writer *w)
{
	return BULK_BUFFER - w->start % BULK_ALIGN - w->len;
}

int bulk_append(struct bulk_writer *w, struct span data, struct err *err)
{
	int r = sums_append(&w->sums, w->st, w->number, data, err);

	if (!w->buffer && posix_memalign((void **)&w->buffer, BULK_ALIGN, BULK_BUFFER) != 0)
		return err_nomem(err);
	while (r == 0 && data.len) {
		size_t n = MIN(data.len, room_in_buffer(w));

		memcpy(w->buffer + w->len, data.data, n);
		w->len += n;
		w->size += n;
		data = span_sub(data, n, data.len);
		if (!room_in_buffer(w))
			r = bulk_drain(w, err);
	}
	return r;
}

static int load_refs(struct store_tx *tx, uint64_t number, uint64_t *refs)
{
	CLEANUP(buf_release) struct buf value = { 0 };
	struct key key = key_1(KEY_REF, number);
	struct record_reader reader;
	int r = store_get(tx, &key, &value);

	if (r < 0 && r != -ENOENT)
		return r;
	reader = (struct record_reader){ .left = buf_span(&value) };
	*refs = record_take_number(&reader);
	if (*refs && !reader.bad)
		return 0;
	return err_set(tx->err, -EIO, "the store has lost the references to the file %llx",
		       (unsigned long long)number);
}

void bulk_put_refs(struct store_tx *tx, uint64_t number, uint64_t refs)
{
	CLEANUP(buf_release) struct buf value = { 0 };
	struct key key = key_1(KEY_REF, number);

	record_number(&value, refs);
	store_put(tx, &key, buf_span(&value));
}

int bulk_add_ref(struct store_tx *tx, uint64_t number)
{
	CLEANUP(buf_release) struct buf value = { 0 };
	struct key pending = key_1(KEY_PENDING, number);
	uint64_t refs = 0;
	int r = store_get(tx, &pending, &value);

	if (r == 0) /* the first reference */
		store_delete(tx, &pending);
	else if (r == -ENOENT)
		r = load_refs(tx, number, &refs);
	if (r == 0)
		bulk_put_refs(tx, number, refs + 1);
	return r;
}

int bulk_drop_ref(struct store_tx *tx, uint64_t number, struct buf *dead)
{
	struct key key = key_1(KEY_REF, number);
	uint64_t refs;
	int r = load_refs(tx, number, &refs);

	if (r < 0)
		return r;
	if (refs > 1) {
		bulk_put_refs(tx, number, refs - 1);
		return 0;
	}
	store_delete(tx, &key);
	put_pending(tx, number);
	buf_add(dead, &number, sizeof number);
	return buf_check(dead, tx->err);
}

static int forget_pending(struct store_tx *tx, void *arg)
{
	uint64_t number = *(uint64_t *)arg;
	struct key key = key_1(KEY_PENDING, number);

	store_delete(tx, &key);
	return sums_drop(tx, number);
}

/*
 * Remove a bulk that nobody has pinned, so that no version can refer to it any more. The row
 * goes after the file: a start that finds the row removes the bulk again.
 */
static void remove_now(struct store *st, uint64_t number)
{
	char path[BULK_PATH_SIZE];

	bulk_path(st, number, path);
	if (unlink(path) == 0 || errno == ENOENT)
		(void)!store_update(st, forget_pending, &number, NULL);
}

struct bulk_pinned {
	struct bulk_pinned *next;
	uint64_t number;
	unsigned pins;
	bool dead; /* to be removed after the last pin */
};

static struct bulk_pinned **pinned_locked(struct bulk_pins *pins, uint64_t number)
	REQUIRES(pins->lock)
{
	struct bulk_pinned **at = &pins->lists[number % BULK_PIN_LISTS];

	while (*at && (*at)->number != number)
		at = &(*at)->next;
	return at;
}

int bulk_pin(struct store *st, uint64_t number)
{
	struct bulk_pins *pins = store_pins(st);
	struct bulk_pinned **at;
	bool done;

	mutex_lock(&pins->lock);
	at = pinned_locked(pins, number);
	if (!*at) {
		*at = calloc(1, sizeof **at);
		if (*at)
			(*at)->number = number;
	}
	done = *at;
	if (done)
		(*at)->pins++;
	mutex_unlock(&pins->lock);
	return done ? 0 : -ENOMEM;
}

static int look_pending(struct store_tx *tx, void *arg)
{
	CLEANUP(buf_release) struct buf value = { 0 };
	struct key key = key_1(KEY_PENDING, *(uint64_t *)arg);

	return store_get(tx, &key, &value);
}

void bulk_unpin(struct store *st, uint64_t number)
{
	struct bulk_pins *pins = store_pins(st);
	struct bulk_pinned *last = NULL;
	struct bulk_pinned **at;

	mutex_lock(&pins->lock);
	at = pinned_locked(pins, number);
	if (*at && !--(*at)->pins) {
		last = *at;
		*at = last->next;
	}
	mutex_unlock(&pins->lock);
	if (last && last->dead && store_view(st, look_pending, &number, NULL) == 0)
		remove_now(st, number);
	free(last);
}

void bulk_remove(struct store *st, uint64_t number)
{
	struct bulk_pins *pins = store_pins(st);
	struct bulk_pinned **at;
	bool wait;

	mutex_lock(&pins->lock);
	at = pinned_locked(pins, number);
	wait = *at;
	if (wait)
		(*at)->dead = true;
	mutex_unlock(&pins->lock);
	if (!wait)
		remove_now(st, number);
}

int bulk_recover(struct store *st, struct err *err)
{
	CLEANUP(buf_release) struct buf pending = { 0 };
	const uint64_t *numbers;
	size_t count;
	size_t i;
	int r = store_own_rows(st, KEY_PENDING, &pending, err);

	numbers = BUF_LIST(uint64_t, &pending, &count);
	for (i = 0; r == 0 && i < count; i++)
		bulk_remove(st, numbers[i]);
	return r;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	(void)remove(path); /* the next start removes the rest */
	return 0;
}

void bulk_clear(struct store *st)
{
	char path[BULK_PATH_SIZE];

	(void)snprintf(path, sizeof path, "%s/bulk", store_folder(st));
	(void)nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}
