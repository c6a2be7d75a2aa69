/*
 * fsverify: random operations on one file, compared with a buffer in memory.
 *
 *	fsverify [OPTION]... FILE
 *
 *	--seed S	the same seed is the same run (a new one each time; it is printed)
 *	--steps N	how many operations (10000)
 *	--size MAX	how large the file gets (256k)
 *	--no OP,...	leave out operations; the table at the end has their names
 *	--atomic	what is written is for others to see when it is closed
 *	--versions DIR	each save is a file DIR/<n>, which never changes; implies --atomic
 *
 * FILE must not exist. FILE-other, FILE-moved and FILE-fresh are used too. All
 * are removed in the end, and kept when there is a difference.
 */
#include "tests/verify/content.h"
#include "tests/verify/saved.h"
#include "tests/verify/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	PIECE_MAX = 128 << 10, /* of one read or write */
};

static struct {
	const char *path;
	char other[PATH_MAX]; /* another file to copy from */
	char moved[PATH_MAX]; /* where the file goes and comes back from */
	char fresh[PATH_MAX]; /* takes the file's place */
	struct content other_content;
	bool atomic;
	uint64_t max;
	size_t page;

	struct content shown; /* what the name has; others see it */
	bool exists;          /* the name */

	int fd;
	int flags;
	uint64_t pos;
	struct content want; /* what the descriptor has */
	bool linked;         /* it is of the name */
	bool touched;        /* since it was shown */
	bool tried;          /* a change that is none, such as cutting what is empty */
	bool unborn;         /* the open made the file and it was not shown yet */
	bool emptied;        /* by the open that made or cut it, and not written since */
	bool dup_closed;     /* since it was emptied: a change of its name saves it first */

	uint8_t *bytes; /* PIECE_MAX and a page, or the largest mapping */
} f;

static bool can_read(void)
{
	return (f.flags & O_ACCMODE) != O_WRONLY;
}

static bool can_write(void)
{
	return (f.flags & O_ACCMODE) != O_RDONLY;
}

static bool appends(void)
{
	return f.flags & O_APPEND;
}

/* What somebody else finds under the name. */
static struct content *seen(void)
{
	return f.linked && !f.atomic ? &f.want : &f.shown;
}

/* A call that must be refused, and why. */
static void must_refuse(bool failed, int code, const char *what)
{
	if (!failed)
		differs("%s: succeeded, must be %s", what, strerrorname_np(code));
	if (errno != code)
		differs("%s: %s, must be %s", what, strerrorname_np(errno), strerrorname_np(code));
}

static void note_range(uint64_t at, size_t len)
{
	step_note(" %llu..%llu", (unsigned long long)at, (unsigned long long)(at + len));
}

/* An offset in the file, or behind its end. */
static uint64_t random_offset(void)
{
	return random_chance(75) ? random_below(f.want.size + 1) : random_skewed(f.max);
}

static size_t random_length(uint64_t at)
{
	return random_skewed(MIN(f.max - at, (uint64_t)PIECE_MAX));
}

static void random_bytes(size_t len)
{
	if (random_chance(10))
		memset(f.bytes, 0, len);
	else
		random_fill(f.bytes, len);
}

static void was_written(uint64_t at, size_t len)
{
	content_put(&f.want, at, f.bytes, len);
	f.touched |= len > 0;
	f.emptied &= len == 0;
	f.dup_closed &= len == 0;
}

/* A call that may change nothing. */
static void was_tried(void)
{
	f.tried = true;
	f.dup_closed = false;
}

/* Opening and closing */

/* What the descriptor has is what the name has now. */
static void show(void)
{
	enum saved_what what = f.emptied   ? SAVED_EMPTY
			       : f.touched ? SAVED_CHANGE
			       : f.tried   ? SAVED_PERHAPS
					   : SAVED_NOTHING;

	f.touched = f.emptied = f.tried = false;
	if (!f.linked)
		return;
	f.unborn = false;
	content_copy(&f.shown, &f.want);
	if (f.atomic)
		saved_check(&f.shown, what);
}

static void file_close(void)
{
	if (f.fd < 0)
		return;
	must(close(f.fd) == 0, "close");
	f.fd = -1;
	if (can_write() || f.touched || !f.atomic)
		show();
	f.linked = false;
}

static int random_flags(void)
{
	static const int modes[] = { O_RDWR, O_RDWR, O_RDWR, O_RDWR, O_WRONLY, O_RDONLY };
	int flags = modes[random_below(ARRAY_SIZE(modes))];

	if (!f.exists)
		flags |= O_CREAT | (random_chance(50) ? O_EXCL : 0);
	else if (random_chance(20))
		flags |= O_CREAT;
	if (flags & O_ACCMODE) {
		flags |= random_chance(20) ? O_APPEND : 0;
		flags |= random_chance(15) ? O_TRUNC : 0;
		flags |= random_chance(5) ? O_SYNC : 0;
	}
	return flags;
}

static void note_flags(int flags)
{
	static const char *const access[] = { "rdonly", "wronly", "rdwr" };

	step_note(" %s%s%s%s%s%s", access[flags & O_ACCMODE], flags & O_CREAT ? " creat" : "",
		  flags & O_EXCL ? " excl" : "", flags & O_TRUNC ? " trunc" : "",
		  flags & O_APPEND ? " append" : "", flags & O_SYNC ? " sync" : "");
}

static void file_open(void)
{
	bool created = !f.exists;

	f.flags = random_flags();
	note_flags(f.flags);
	f.fd = open(f.path, f.flags, 0600);
	must(f.fd >= 0, "open");
	if (created)
		content_resize(&f.shown, 0);
	content_copy(&f.want, &f.shown);
	f.touched = f.emptied = created || ((f.flags & O_TRUNC) && f.want.size > 0);
	f.tried = f.flags & O_TRUNC;
	f.unborn = created;
	f.dup_closed = false;
	if (f.flags & O_TRUNC)
		content_resize(&f.want, 0);
	f.exists = f.linked = true;
	f.pos = 0;
	saved_opened();
}

/* A descriptor that is closed while another of the same open stays. */
static void op_dup(void)
{
	int fd = dup(f.fd);

	must(fd >= 0, "dup");
	must(close(fd) == 0, "close of a dup");
	if (f.emptied || (f.tried && !f.touched))
		f.dup_closed = true; /* that it stays empty is known when all are closed */
	else if (can_write())
		show();
}

static void op_fsync(void)
{
	must((random_chance(50) ? fsync(f.fd) : fdatasync(f.fd)) == 0, "fsync");
}

/* Writing */

static void write_at(uint64_t at, size_t len, bool positional)
{
	ssize_t n;

	random_bytes(len);
	n = positional ? pwrite(f.fd, f.bytes, len, (off_t)at) : write(f.fd, f.bytes, len);
	if (!can_write()) {
		must_refuse(n < 0, EBADF, "a write to a file that is open for reading");
		return;
	}
	must(n >= 0, "write");
	if ((size_t)n != len)
		differs("a write of %zu bytes wrote %zd", len, n);
	if (appends())
		at = f.want.size;
	was_written(at, len);
	if (!positional && len > 0)
		f.pos = at + len;
}

static void op_write(void)
{
	uint64_t at = appends() ? f.want.size : f.pos;
	size_t len = random_length(at);

	note_range(at, len);
	write_at(at, len, false);
}

static void op_pwrite(void)
{
	uint64_t at = random_offset();
	size_t len = random_length(appends() ? f.want.size : at);

	note_range(at, len);
	write_at(at, len, true);
}

static void op_append(void)
{
	size_t len = random_length(f.want.size);

	note_range(f.want.size, len);
	must(lseek(f.fd, 0, SEEK_END) == (off_t)f.want.size, "lseek to the end");
	f.pos = f.want.size;
	write_at(f.pos, len, false);
}

static void op_ftruncate(void)
{
	uint64_t size = random_chance(50) ? random_below(f.want.size + 1) : random_skewed(f.max);
	int r;

	step_note(" %llu", (unsigned long long)size);
	r = ftruncate(f.fd, (off_t)size);
	if (!can_write()) {
		must_refuse(r < 0, EINVAL, "ftruncate of a file that is open for reading");
		return;
	}
	must(r == 0, "ftruncate");
	was_tried();
	f.touched |= size != f.want.size;
	f.emptied &= size == 0;
	content_resize(&f.want, size);
}

/* By name. Where writers do not see each other the descriptor is closed first. */
static void op_truncate(void)
{
	uint64_t size = random_skewed(f.max);
	bool changes = false;

	step_note(" %llu", (unsigned long long)size);
	if (f.atomic)
		file_close();
	if (f.exists) {
		changes = size != seen()->size;
		must(truncate(f.path, (off_t)size) == 0, "truncate");
		content_resize(seen(), size);
	} else {
		must_refuse(truncate(f.path, (off_t)size) < 0, ENOENT, "truncate of no file");
	}
	if (!f.atomic)
		return;
	saved_opened();
	if (f.exists)
		saved_check(&f.shown, changes ? SAVED_CHANGE : SAVED_PERHAPS);
	file_open();
}

static void op_punch(void)
{
	uint64_t at = random_offset();
	size_t len = random_length(at);
	int r;

	if (!len)
		return;
	note_range(at, len);
	r = fallocate(f.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)len);
	if (!can_write()) {
		must_refuse(r < 0, EBADF, "a hole in a file that is open for reading");
		return;
	}
	must(r == 0, "fallocate of a hole");
	was_tried();
	if (!content_has(&f.want, at, len))
		return;
	content_zero(&f.want, at, len);
	f.touched = true;
	f.emptied = false;
}

static void op_fallocate(void)
{
	uint64_t at = random_offset();
	size_t len = random_length(at);
	int mode = random_chance(30) ? FALLOC_FL_KEEP_SIZE : 0;
	int r;

	if (!len)
		return;
	note_range(at, len);
	step_note("%s", mode ? " keep" : "");
	r = fallocate(f.fd, mode, (off_t)at, (off_t)len);
	if (!can_write()) {
		must_refuse(r < 0, EBADF, "fallocate of a file that is open for reading");
		return;
	}
	must(r == 0, "fallocate");
	was_tried();
	if (!mode && at + len > f.want.size) {
		content_resize(&f.want, at + len);
		f.touched = true;
		f.emptied = false;
	}
}

/* Copying */

static void copy_range(int from_fd, const struct content *from, uint64_t from_at, uint64_t to_at,
		       size_t len)
{
	loff_t in = (loff_t)from_at;
	loff_t out = (loff_t)to_at;

	for (size_t left = len; left > 0;) {
		ssize_t n = copy_file_range(from_fd, &in, f.fd, &out, left, 0);

		must(n >= 0, "copy_file_range");
		if (n == 0)
			differs("copy_file_range copied %zu of %zu bytes", len - left, len);
		left -= (size_t)n;
	}
	memcpy(f.bytes, from->data + from_at, len);
	was_written(to_at, len);
}

static void op_copy(void)
{
	uint64_t from = random_below(f.want.size + 1);
	size_t len = content_has(&f.want, from, random_length(from));
	uint64_t to = random_offset();

	len = MIN(len, (size_t)(f.max - to));
	len = MIN(len, (size_t)(from < to ? to - from : from - to)); /* the two may not overlap */
	if (!len || !can_read() || !can_write() || appends())
		return;
	note_range(from, len);
	step_note(" to %llu", (unsigned long long)to);
	copy_range(f.fd, &f.want, from, to, len);
}

static void op_copyfrom(void)
{
	uint64_t from = random_below(f.other_content.size);
	size_t len = content_has(&f.other_content, from, random_length(from));
	uint64_t to = random_offset();
	int fd;

	len = MIN(len, (size_t)(f.max - to));
	if (!len || !can_write() || appends())
		return;
	note_range(from, len);
	step_note(" to %llu", (unsigned long long)to);
	fd = open(f.other, O_RDONLY);
	must(fd >= 0, "open of the other file");
	copy_range(fd, &f.other_content, from, to, len);
	must(close(fd) == 0, "close of the other file");
}

/* Mappings */

/* A part of the file from a page on; the length is cut to the file. */
static size_t map_range(uint64_t *at)
{
	*at = random_below(f.want.size) / f.page * f.page;
	return content_has(&f.want, *at, 1 + random_skewed(PIECE_MAX - 1));
}

static void op_mapwrite(void)
{
	uint64_t at;
	size_t from;
	size_t len;
	uint8_t *map;

	if (!f.want.size)
		return;
	len = map_range(&at);
	map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, f.fd, (off_t)at);
	if (!can_read() || !can_write()) {
		must_refuse(map == MAP_FAILED, EACCES, "a mapping that the open does not allow");
		return;
	}
	must(map != MAP_FAILED, "mmap, shared");
	content_compare(&f.want, map, at, len, "a shared mapping");
	from = random_below(len);
	note_range(at + from, len - from);
	random_bytes(len - from);
	memcpy(map + from, f.bytes, len - from);
	was_written(at + from, len - from);
	if (random_chance(40))
		must(msync(map, len, random_chance(50) ? MS_SYNC : MS_ASYNC) == 0, "msync");
	must(munmap(map, len) == 0, "munmap");
}

static void op_mapread(void)
{
	int kind = random_chance(50) ? MAP_PRIVATE : MAP_SHARED;
	uint64_t at;
	size_t len;
	size_t tail;
	uint8_t *map;

	if (!f.want.size)
		return;
	len = map_range(&at);
	note_range(at, len);
	map = mmap(NULL, len, PROT_READ, kind, f.fd, (off_t)at);
	if (!can_read()) {
		must_refuse(map == MAP_FAILED, EACCES, "a mapping of a file open for writing");
		return;
	}
	must(map != MAP_FAILED, "mmap");
	content_compare(&f.want, map, at, len, "a mapping");
	tail = at + len == f.want.size ? (f.page - len % f.page) % f.page : 0;
	for (size_t i = 0; i < tail; i++)
		if (map[len + i])
			differs("a mapping: 0x%02x behind the end of the file", map[len + i]);
	must(munmap(map, len) == 0, "munmap");
}

/* Reading */

static void read_at(uint64_t at, size_t len, bool positional)
{
	size_t want = content_has(&f.want, at, len);
	ssize_t n;

	note_range(at, len);
	n = positional ? pread(f.fd, f.bytes, len, (off_t)at) : read(f.fd, f.bytes, len);
	if (!can_read()) {
		must_refuse(n < 0, EBADF, "a read of a file that is open for writing");
		return;
	}
	must(n >= 0, "read");
	if ((size_t)n != want)
		differs("a read gave %zd bytes and not %zu (the size is %llu)", n, want,
			(unsigned long long)f.want.size);
	content_compare(&f.want, f.bytes, at, want, "a read");
	if (!positional)
		f.pos += want;
}

static void op_read(void)
{
	read_at(f.pos, random_skewed(PIECE_MAX), false);
}

static void op_pread(void)
{
	read_at(random_offset(), random_skewed(PIECE_MAX), true);
}

static void op_seek(void)
{
	f.pos = random_offset();
	step_note(" %llu", (unsigned long long)f.pos);
	must(lseek(f.fd, (off_t)f.pos, SEEK_SET) == (off_t)f.pos, "lseek");
}

static void op_end(void)
{
	off_t end = lseek(f.fd, 0, SEEK_END);

	must(end >= 0, "lseek to the end");
	if ((uint64_t)end != f.want.size)
		differs("the end is at %lld and not at %llu", (long long)end,
			(unsigned long long)f.want.size);
	f.pos = f.want.size;
}

/* What is told to be a hole must be zero; more than that a file system need not know. */
static void must_be_zero(uint64_t from, uint64_t to, const char *what)
{
	for (uint64_t i = from; i < to; i++)
		if (f.want.data[i])
			differs("%s: there is data at %llu", what, (unsigned long long)i);
}

static void op_hole(void)
{
	uint64_t at = random_offset();
	off_t data = lseek(f.fd, (off_t)at, SEEK_DATA);
	int data_errno = errno;
	off_t hole = lseek(f.fd, (off_t)at, SEEK_HOLE);
	int hole_errno = errno;

	step_note(" %llu", (unsigned long long)at);
	if (data < 0 && data_errno != ENXIO)
		differs("SEEK_DATA: %s", strerror(data_errno));
	if (at >= f.want.size) {
		if (data >= 0 || hole >= 0 || hole_errno != ENXIO)
			differs("SEEK_DATA, SEEK_HOLE behind the end: must be ENXIO");
	} else {
		must_be_zero(at, data < 0 ? f.want.size : (uint64_t)data, "SEEK_DATA");
		if (hole < (off_t)at || (uint64_t)hole > f.want.size ||
		    (data >= 0 && (data < (off_t)at || (uint64_t)data >= f.want.size)))
			differs("SEEK_DATA gives %lld, SEEK_HOLE %lld", (long long)data,
				(long long)hole);
		if ((uint64_t)hole < f.want.size)
			must_be_zero((uint64_t)hole, (uint64_t)hole + 1, "SEEK_HOLE");
	}
	must(lseek(f.fd, (off_t)f.pos, SEEK_SET) == (off_t)f.pos, "lseek");
}

/*
 * A kernel has one size for all who have a file open: where what is written is
 * not for others to see yet, they may be told its size, and the writer theirs.
 */
static void must_have_size(const struct stat *st, const struct content *content, const char *what)
{
	uint64_t size = (uint64_t)st->st_size;
	bool either = f.atomic && f.linked && f.touched;

	if (size != content->size && !(either && (size == f.want.size || size == f.shown.size)))
		differs("%s: the size is %lld and not %llu", what, (long long)st->st_size,
			(unsigned long long)content->size);
}

static void op_fstat(void)
{
	struct stat st;

	must(fstat(f.fd, &st) == 0, "fstat");
	must_have_size(&st, &f.want, "fstat");
}

/* Somebody else opens the file. */
static void op_look(void)
{
	int fd = open(f.path, O_RDONLY);
	struct stat st;

	if (!f.exists) {
		must_refuse(fd < 0, ENOENT, "an open of no file");
		return;
	}
	must(fd >= 0, "open by another");
	if (!f.atomic || !f.linked ||
	    !f.unborn) /* nothing says what the first save looks like before */
		content_compare_fd(seen(), fd, "what another open reads");
	must(close(fd) == 0, "close by another");
	must(stat(f.path, &st) == 0, "stat");
	must_have_size(&st, seen(), "stat");
}

static void op_reopen(void)
{
	file_close();
	if (random_chance(50))
		op_look();
	file_open();
}

/* Names */

static void name_changes(void)
{
	if (f.linked && f.dup_closed)
		saved_may_follow();
}

/* A rename saves what was not shown before: what is written from then on is another version. */
static void name_moved(void)
{
	if (!f.atomic)
		return;
	saved_moved();
	if (!f.linked || !(f.unborn || f.dup_closed))
		return;
	content_copy(&f.shown, &f.want);
	f.unborn = f.touched = f.emptied = f.tried = f.dup_closed = false;
}

static void op_rename(void)
{
	struct stat st;

	if (!f.exists)
		return;
	must(rename(f.path, f.moved) == 0, "rename");
	must_refuse(stat(f.path, &st) < 0, ENOENT, "stat of the old name");
	must(stat(f.moved, &st) == 0, "the new name");
	must_have_size(&st, seen(), "stat of the new name");
	must(rename(f.moved, f.path) == 0, "rename back");
	must_refuse(stat(f.moved, &st) < 0, ENOENT, "stat of the name it came back from");
	name_moved();
}

/* A new file takes the name; what is open goes on to have the old bytes. */
static void op_replace(void)
{
	size_t len = random_length(0);
	int fd;

	if (f.linked && !f.atomic)
		content_copy(&f.shown, &f.want);
	step_note(" by %zu bytes", len);
	random_bytes(len);
	fd = open(f.fresh, O_WRONLY | O_CREAT | O_EXCL, 0600);
	must(fd >= 0, "open of a new file");
	must(write(fd, f.bytes, len) == (ssize_t)len, "write to a new file");
	must(close(fd) == 0, "close of a new file");
	must(rename(f.fresh, f.path) == 0, "rename over the file");
	content_resize(&f.shown, 0);
	content_put(&f.shown, 0, f.bytes, len);
	name_changes();
	f.linked = false;
	saved_opened();
	if (f.atomic && f.exists)
		saved_check(&f.shown, len ? SAVED_CHANGE : SAVED_EMPTY);
	else if (f.atomic)
		saved_moved();
	f.exists = true;
}

static void op_unlink(void)
{
	if (!f.exists) {
		must_refuse(unlink(f.path) < 0, ENOENT, "unlink of no file");
		return;
	}
	must(unlink(f.path) == 0, "unlink");
	name_changes();
	f.exists = f.linked = false;
	saved_gone();
}

/* A mapping that reaches behind the end, because a write or its size got lost. */
static void on_bus_error(int sig)
{
	(void)sig;
	differs("a mapping: SIGBUS within the %llu bytes of the file",
		(unsigned long long)f.want.size);
}

/* In the order of the manual pages. A million steps take ext4 about 20 seconds. */
static struct operation operations[] = {
	{ "write", 100, op_write },
	{ "pwrite", 100, op_pwrite },
	{ "append", 40, op_append },
	{ "read", 100, op_read },
	{ "pread", 100, op_pread },
	{ "seek", 50, op_seek },
	{ "end", 30, op_end },
	{ "hole", 30, op_hole },
	{ "ftruncate", 50, op_ftruncate },
	{ "truncate", 15, op_truncate },
	{ "fallocate", 15, op_fallocate },
	{ "punch", 20, op_punch },
	{ "copy", 25, op_copy },
	{ "copyfrom", 25, op_copyfrom },
	{ "mapwrite", 50, op_mapwrite },
	{ "mapread", 50, op_mapread },
	{ "fsync", 10, op_fsync },
	{ "fstat", 40, op_fstat },
	{ "look", 20, op_look },
	{ "dup", 10, op_dup },
	{ "reopen", 60, op_reopen },
	{ "rename", 8, op_rename },
	{ "replace", 8, op_replace },
	{ "unlink", 5, op_unlink },
	{ 0 },
};

static void other_make(uint64_t seed)
{
	int fd = open(f.other, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	random_seed(seed);
	content_new(&f.other_content, f.max);
	random_fill(f.other_content.data, f.max);
	f.other_content.size = f.max;
	must(fd >= 0, f.other);
	for (uint64_t at = 0; at < f.max;) {
		ssize_t n = write(fd, f.other_content.data + at, f.max - at);

		must(n > 0, f.other);
		at += (uint64_t)n;
	}
	must(close(fd) == 0, f.other);
}

static void begin(const char *path, const char *versions, uint64_t seed)
{
	f.path = path;
	f.page = (size_t)sysconf(_SC_PAGESIZE);
	f.max = MAX(f.max, 1);
	f.bytes = malloc(PIECE_MAX + f.page);
	content_new(&f.want, f.max);
	content_new(&f.shown, f.max);
	saved_begin(versions, f.max);
	if (!f.bytes || snprintf(f.other, sizeof f.other, "%s-other", path) >= PATH_MAX - 6) {
		fprintf(stderr, "the name is too long\n");
		exit(2);
	}
	(void)snprintf(f.moved, sizeof f.moved, "%s-moved", path);
	(void)snprintf(f.fresh, sizeof f.fresh, "%s-fresh", path);
	if (access(path, F_OK) == 0) {
		fprintf(stderr, "%s is there already\n", path);
		exit(2);
	}
	(void)signal(SIGBUS, on_bus_error);
	other_make(seed);
	f.fd = -1;
	file_open();
}

static void end(void)
{
	file_close();
	op_look();
	(void)unlink(f.path);
	(void)unlink(f.other);
	saved_end();
	content_free(&f.want);
	content_free(&f.shown);
	content_free(&f.other_content);
	free(f.bytes);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "steps", required_argument, NULL, 'n' },
		{ "size", required_argument, NULL, 'm' },
		{ "no", required_argument, NULL, 'x' },
		{ "versions", required_argument, NULL, 'v' },
		{ "atomic", no_argument, NULL, 'a' },
		{ 0 },
	};
	uint64_t seed = seed_choose();
	uint64_t steps = 10000;
	const char *versions = NULL;
	int c;

	f.max = 256 << 10;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 's')
			seed = number_of(optarg);
		else if (c == 'n')
			steps = number_of(optarg);
		else if (c == 'm')
			f.max = number_of(optarg);
		else if (c == 'x')
			operations_leave_out(operations, optarg);
		else if (c == 'v')
			versions = optarg;
		else if (c != 'a')
			return 2;
		f.atomic |= c == 'a' || c == 'v';
	}
	if (optind != argc - 1) {
		fprintf(stderr, "usage: fsverify [--seed S] [--steps N] [--size MAX] [--no OP,...] "
				"[--atomic] [--versions DIR] FILE\n");
		return 2;
	}
	begin(argv[optind], versions, seed);
	steps_run(operations, seed, steps);
	end();
	return 0;
}
