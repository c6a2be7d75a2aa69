/*
 * bench: what a user's operations cost, side by side with the floor.
 *
 *	bench [-q] [-k RUNS] [-r ROW,ROW] [-n NAME] [-s STORE] FLOOR PATH
 *	bench -l
 *
 * FLOOR and PATH hold the tree of tree.h, made by bench_fill: a mount of
 * floor_server and one of adkfs, or any directory. Each row is measured on
 * one, then on the other, RUNS times; the medians are compared. -q does a
 * tenth of everything, -n names the second side in the heading, -s is where it
 * keeps its bytes. The table of rows is at the end.
 */
#include "base/cc.h"
#include "tests/bench/measure.h"
#include "tests/bench/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
	RUNS = 5,
	BLOCK = 1 << 20,        /* of a copy */
	CAT_BLOCK = 128 << 10,  /* what cat(1) reads at once */
	CLOCK_EVERY = 64,       /* operations between two looks at the clock */
	SETTLE_US = 300 * 1000, /* for the FORGETs after names were dropped, ... */
	SETTLE_EACH_US = 3,     /* ... and for each of them */
	CHANGE = 4096,          /* in the middle of an artifact */
	MORE_MAX = 3,
};

/* How much of each thing is done in one run. */
struct size {
	double seconds; /* of the rows that count operations */
	unsigned appends;
	unsigned turns;
	off_t artifact;
};

/* One run: the number of its row, and those of the lines below it. NAN: there is none. */
struct sample {
	double value, more[MORE_MAX];
};

typedef int measure_fn(const struct size *size, const char *root, struct sample *out);
typedef int once_fn(const char *path);

/* What is reported below a row. */
struct line {
	const char *title;
	enum unit unit;
	struct target target;
};

struct row {
	const char *name;
	const char *title;
	enum unit unit;
	struct target target;
	measure_fn *measure;
	struct line more[MORE_MAX];
	bool apart; /* on a tree of its own: only when it is named */
};

static char block[BLOCK];
static struct {
	const char *root;
	const char *folder;
} store; /* where what is written below root ends; NULL: nobody knows */

static void close_p(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static void path_of(char path[PATH_MAX], const char *root, const char *name)
{
	snprintf(path, PATH_MAX, "%s/%s", root, name);
}

/* Do it for some seconds, after one time that warms the caches. */
static int repeat(double seconds, once_fn *once, const char *root, const char *name,
		  struct sample *out)
{
	char path[PATH_MAX];
	unsigned long count = 0;
	double start, took;
	int r;

	path_of(path, root, name);
	r = once(path);
	start = seconds_now();
	do {
		for (int i = 0; i < CLOCK_EVERY && r == 0; i++)
			r = once(path);
		if (r < 0)
			return r;
		count += CLOCK_EVERY;
		took = seconds_now() - start;
	} while (took < seconds);
	out->value = (double)count / took;
	return 0;
}

static int stat_once(const char *path)
{
	struct stat st;

	return stat(path, &st) ? -errno : 0;
}

static int read_once(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[4096];
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text));
	close(fd);
	return n > 0 ? 0 : -EIO;
}

static int overwrite_once(const char *path)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = write(fd, TREE_VALUE, VALUE_SIZE);
	if (close(fd) || n != (ssize_t)VALUE_SIZE)
		return -EIO;
	return 0;
}

static int stat_measure(const struct size *size, const char *root, struct sample *out)
{
	return repeat(size->seconds, stat_once, root, TREE_STATE, out);
}

static int state_read_measure(const struct size *size, const char *root, struct sample *out)
{
	return repeat(size->seconds, read_once, root, TREE_STATE, out);
}

static int overwrite_measure(const struct size *size, const char *root, struct sample *out)
{
	return repeat(size->seconds, overwrite_once, root, TREE_STATE, out);
}

/* An empty session. In adkfs rmdir takes what it holds; a plain directory keeps its log. */
static int session_renew(const char *root, const char *session, const char *log)
{
	char dir[PATH_MAX], path[PATH_MAX];
	int r;

	path_of(dir, root, session);
	path_of(path, root, log);
	r = rmdir(dir);
	if (r && errno == ENOTEMPTY && unlink(path) == 0)
		r = rmdir(dir);
	if (r && errno != ENOENT)
		return -errno;
	return mkdir(dir, 0700) ? -errno : 0;
}

/* Events [from, to), one write(2) each. Sets the events per second. */
static int events_append(int fd, unsigned from, unsigned to, double *rate)
{
	double start = seconds_now();
	char line[EVENT_MAX];

	for (unsigned i = from; i < to; i++) {
		size_t len = tree_event(line, i);
		ssize_t n = write(fd, line, len);

		if (n != (ssize_t)len)
			return n < 0 ? -errno : -EIO;
	}
	*rate = (to - from) / (seconds_now() - start);
	return 0;
}

static int append_measure(const struct size *size, const char *root, struct sample *out)
{
	unsigned all = size->appends, tenth = all / 10;
	CLEANUP(close_p) int fd = -1;
	double start, middle;
	char path[PATH_MAX];
	int r;

	r = session_renew(root, TREE_APPEND, TREE_EVENTS);
	if (r < 0)
		return r;
	path_of(path, root, TREE_EVENTS);
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;

	start = seconds_now();
	r = events_append(fd, 0, tenth, &out->more[0]);
	if (r == 0)
		r = events_append(fd, tenth, all - tenth, &middle);
	if (r == 0)
		r = events_append(fd, all - tenth, all, &out->more[1]);
	out->value = all / (seconds_now() - start);
	out->more[2] = out->more[1] / out->more[0];
	return r;
}

/* One that appends, beside others. */
struct appender {
	pthread_t thread;
	pthread_barrier_t *start;
	const char *root;
	unsigned number, appends;
	int result;
};

static int appender_open(const struct appender *a, int *fd)
{
	char session[NAME_MAX], log[NAME_MAX], path[PATH_MAX];
	int r;

	snprintf(session, sizeof(session), TREE_CROWD_MEMBER, a->number);
	snprintf(log, sizeof(log), TREE_CROWD_EVENTS, a->number);
	r = session_renew(a->root, session, log);
	if (r < 0)
		return r;
	path_of(path, a->root, log);
	*fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	return *fd < 0 ? -errno : 0;
}

static void *appender_run(void *arg)
{
	struct appender *a = arg;
	CLEANUP(close_p) int fd = -1;
	double rate;

	a->result = appender_open(a, &fd);
	pthread_barrier_wait(a->start);
	if (a->result == 0)
		a->result = events_append(fd, 0, a->appends, &rate);
	return NULL;
}

/* So many at once, each to its own session. Sets the events per second of all. */
static int crowd_append(const char *root, unsigned count, unsigned appends, double *rate)
{
	struct appender crowd[CROWD];
	pthread_barrier_t go;
	double start;
	int r = 0;

	pthread_barrier_init(&go, NULL, count + 1);
	for (unsigned i = 0; i < count; i++) {
		crowd[i] = (struct appender){
			.start = &go, .root = root, .number = i, .appends = appends
		};
		if (pthread_create(&crowd[i].thread, NULL, appender_run, &crowd[i]))
			abort(); /* the others wait for it */
	}
	pthread_barrier_wait(&go);
	start = seconds_now();
	for (unsigned i = 0; i < count; i++) {
		pthread_join(crowd[i].thread, NULL);
		r = crowd[i].result < 0 ? crowd[i].result : r;
	}
	*rate = count * appends / (seconds_now() - start);
	pthread_barrier_destroy(&go);
	return r;
}

/* 32 at once, and how many times that is what one does alone. */
static int crowd_measure(const struct size *size, const char *root, struct sample *out)
{
	double alone;
	int r = crowd_append(root, 1, size->appends / 4, &alone);

	if (r == 0)
		r = crowd_append(root, CROWD, size->appends * 2 / CROWD, &out->value);
	out->more[0] = out->value / alone;
	return r;
}

/* The part of a file's pages that the kernel holds, in percent. */
static int resident(int fd, size_t bytes)
{
	size_t pages = (bytes + 4095) / 4096, held = 0;
	unsigned char *map = malloc(pages);
	void *data = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);

	if (map && data != MAP_FAILED && mincore(data, bytes, map) == 0)
		for (size_t i = 0; i < pages; i++)
			held += map[i] & 1;
	if (data != MAP_FAILED)
		munmap(data, bytes);
	free(map);
	return (int)(held * 100 / pages);
}

/* Drop the pages of a file, and make sure that they are gone. */
static int file_cool(int fd)
{
	struct stat st;
	int r;

	fdatasync(fd);
	r = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	if (r)
		return -r;
	if (fstat(fd, &st))
		return -errno;
	return st.st_size > 0 && resident(fd, (size_t)st.st_size) > 1 ? -EBUSY : 0;
}

static int file_read(int fd, size_t piece, off_t *bytes)
{
	ssize_t n;

	*bytes = 0;
	while ((n = read(fd, block, piece)) > 0)
		*bytes += n;
	return n < 0 ? -errno : 0;
}

/* Open, read all, close; `cool` first drops its pages. Sets bytes per second. */
static int read_all(const char *root, const char *name, size_t piece, int (*cool)(int fd),
		    struct sample *out)
{
	CLEANUP(close_p) int fd = -1;
	char path[PATH_MAX];
	double start;
	off_t bytes;
	int r;

	path_of(path, root, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = cool ? cool(fd) : 0;
	if (r < 0)
		return r;
	start = seconds_now();
	r = file_read(fd, piece, &bytes);
	out->value = (double)bytes / (seconds_now() - start);
	return bytes ? r : -ENODATA;
}

static int log_cold_measure(const struct size *size, const char *root, struct sample *out)
{
	(void)size;
	return read_all(root, TREE_LOG, CAT_BLOCK, file_cool, out);
}

static int log_warm_measure(const struct size *size, const char *root, struct sample *out)
{
	int r = read_all(root, TREE_LOG, CAT_BLOCK, NULL, out);

	(void)size;
	return r < 0 ? r : read_all(root, TREE_LOG, CAT_BLOCK, NULL, out);
}

/*
 * Forget all names of a mount, and listings with them. A remount drops the
 * names that nobody uses; it changes nothing else, and needs root.
 */
static int names_cool(const char *root, unsigned names)
{
	struct statvfs st;
	struct statfs fs;

	if (statfs(root, &fs) || statvfs(root, &st))
		return -errno;
	if (fs.f_type != FUSE_SUPER_MAGIC)
		return 0;
	if (mount(NULL, root, NULL, MS_REMOUNT | (st.f_flag & (MS_NOSUID | MS_NODEV)), NULL))
		return -errno;
	usleep(SETTLE_US + SETTLE_EACH_US * names);
	return 0;
}

static int name_skip(DIR *dir, const char *name)
{
	(void)dir;
	(void)name;
	return 0;
}

static int name_lstat(DIR *dir, const char *name)
{
	struct stat st;

	return fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) ? -errno : 0;
}

/*
 * Every name, and what each() does with it: nothing, as `ls -f`, or lstat, as
 * `ls -l` and find(1). Sets the seconds it took, and how many there are.
 */
static int list(const char *root, int (*each)(DIR *dir, const char *name), unsigned *count,
		struct sample *out)
{
	double start = seconds_now();
	char path[PATH_MAX];
	struct dirent *e;
	int r = 0;
	DIR *dir;

	path_of(path, root, TREE_MANY);
	dir = opendir(path);
	if (!dir)
		return -errno;
	*count = 0;
	while (r == 0 && (e = readdir(dir))) {
		r = each(dir, e->d_name);
		++*count;
	}
	closedir(dir);
	out->value = seconds_now() - start;
	return r == 0 && *count < 3 ? -ENODATA : r;
}

static int list_cold(const char *root, int (*each)(DIR *dir, const char *name), struct sample *out)
{
	static unsigned count; /* of the last time: so many names are to be forgotten */
	int r = names_cool(root, count);

	return r < 0 ? r : list(root, each, &count, out);
}

static int list_cold_measure(const struct size *size, const char *root, struct sample *out)
{
	(void)size;
	return list_cold(root, name_lstat, out);
}

static int names_cold_measure(const struct size *size, const char *root, struct sample *out)
{
	(void)size;
	return list_cold(root, name_skip, out);
}

static int list_warm_measure(const struct size *size, const char *root, struct sample *out)
{
	unsigned count;
	int r = list(root, name_lstat, &count, out);

	(void)size;
	return r < 0 ? r : list(root, name_lstat, &count, out);
}

/* Bytes that do not compress. */
static void block_fill(void)
{
	unsigned long long x = 88172645463325252ull;

	for (size_t i = 0; i < sizeof(block); i += sizeof(x)) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		memcpy(block + i, &x, sizeof(x));
	}
}

static int copy_in_measure(const struct size *size, const char *root, struct sample *out)
{
	char path[PATH_MAX];
	double start;
	int fd, r = 0;

	block_fill();
	path_of(path, root, TREE_ARTIFACT);
	start = seconds_now();
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	for (off_t done = 0; done < size->artifact && r == 0; done += BLOCK) {
		ssize_t n = write(fd, block, BLOCK);

		if (n != BLOCK)
			r = n < 0 ? -errno : -ENOSPC;
	}
	if (close(fd) && r == 0)
		r = -errno;
	out->value = (double)size->artifact / (seconds_now() - start);
	return r;
}

static int copy_out_measure(const struct size *size, const char *root, struct sample *out)
{
	char path[PATH_MAX];
	struct stat st;
	int r = 0;

	path_of(path, root, TREE_ARTIFACT);
	if (stat(path, &st) || st.st_size < size->artifact)
		r = copy_in_measure(size, root, out);
	return r < 0 ? r : read_all(root, TREE_ARTIFACT, BLOCK, file_cool, out);
}

static long long blocks;

static int blocks_add(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)path;
	(void)type;
	(void)at;
	blocks += st->st_blocks;
	return 0;
}

/* What du(1) says of the store in which root is kept; NAN: nobody knows where that is. */
static double stored_bytes(const char *root)
{
	if (root != store.root || !store.folder)
		return NAN;
	blocks = 0;
	if (nftw(store.folder, blocks_add, 64, FTW_PHYS))
		return NAN;
	return (double)blocks * 512;
}

/* Some bytes in the middle of a large artifact: open, pwrite, close. */
static int change_measure(const struct size *size, const char *root, struct sample *out)
{
	static unsigned changes;
	char path[PATH_MAX];
	double before, start;
	struct stat st;
	int fd, r = 0;

	path_of(path, root, TREE_ARTIFACT);
	if (stat(path, &st) || st.st_size < size->artifact)
		r = copy_in_measure(size, root, out);
	if (r < 0)
		return r;
	block_fill();
	memset(block, (int)++changes, 64); /* not what is there */
	before = stored_bytes(root);
	start = seconds_now();
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (pwrite(fd, block, CHANGE, size->artifact / 2 + changes * CHANGE) != CHANGE)
		r = -EIO;
	if (close(fd) && r == 0)
		r = -errno;
	out->value = seconds_now() - start;
	if (!isnan(before))
		out->more[0] = MAX(stored_bytes(root) - before, 0);
	return r;
}

/* From the close of a message to the end of its answer. */
static int turn_once(const char *input, const char *output, double *took)
{
	CLEANUP(close_p) int answer = -1;
	int message = open(input, O_WRONLY | O_CLOEXEC);
	double start;
	off_t bytes;
	int r;

	if (message < 0)
		return -errno;
	if (write(message, "hello\n", 6) != 6) {
		close(message);
		return -EIO;
	}
	start = seconds_now();
	if (close(message))
		return -errno;
	answer = open(output, O_RDONLY | O_CLOEXEC);
	if (answer < 0)
		return -errno;
	r = file_read(answer, CAT_BLOCK, &bytes);
	*took = seconds_now() - start;
	return r == 0 && bytes == 0 ? -ENODATA : r;
}

static int turn_measure(const struct size *size, const char *root, struct sample *out)
{
	char input[PATH_MAX], output[PATH_MAX];
	double *took = calloc(size->turns, sizeof(*took));
	int r;

	if (!took)
		return -ENOMEM;
	path_of(input, root, TREE_INPUT);
	path_of(output, root, TREE_OUTPUT);
	r = session_renew(root, TREE_TURN, TREE_INPUT);
	for (unsigned i = 0; i < size->turns && r == 0; i++)
		r = turn_once(input, output, &took[i]);
	if (r == 0)
		out->value = median(took, size->turns);
	free(took);
	return r;
}

static const struct row rows[] = {
	{ .name = "stat",
	  .title = "stat of a hot file",
	  .unit = UNIT_RATE,
	  .target = { TARGET_TIMES, 1.2 },
	  .measure = stat_measure },
	{ .name = "open",
	  .title = "open, read, close a state file",
	  .unit = UNIT_RATE,
	  .target = { TARGET_SHARE, 0.8 },
	  .measure = state_read_measure },
	{ .name = "overwrite",
	  .title = "overwrite a state file",
	  .unit = UNIT_RATE,
	  .target = { TARGET_SHARE, 0.8 },
	  .measure = overwrite_measure },
	{ .name = "append",
	  .title = "append an event",
	  .unit = UNIT_RATE,
	  .target = { TARGET_SHARE, 0.5 },
	  .measure = append_measure,
	  .more = { { "  its first 10 %", UNIT_RATE, { TARGET_NONE, 0 } },
		    { "  its last 10 %", UNIT_RATE, { TARGET_NONE, 0 } },
		    { "  last / first", UNIT_PART, { TARGET_ABOVE, 0.9 } } } },
	{ .name = "append-32",
	  .title = "append in 32 sessions at once",
	  .unit = UNIT_RATE,
	  .target = { TARGET_NONE, 0 },
	  .measure = crowd_measure,
	  .more = { { "  all / one alone", UNIT_PART, { TARGET_ABOVE, 1.2 } } } },
	{ .name = "log-cold",
	  .title = "read the log, cold",
	  .unit = UNIT_BYTES,
	  .target = { TARGET_SHARE, 0.6 },
	  .measure = log_cold_measure },
	{ .name = "log-warm",
	  .title = "read the log, warm",
	  .unit = UNIT_BYTES,
	  .target = { TARGET_SHARE, 0.9 },
	  .measure = log_warm_measure },
	{ .name = "list-cold",
	  .title = "list and lstat of many, cold",
	  .unit = UNIT_SECONDS,
	  .target = { TARGET_TIMES, 1.2 },
	  .measure = list_cold_measure },
	{ .name = "list-warm",
	  .title = "list and lstat of many, warm",
	  .unit = UNIT_SECONDS,
	  .target = { TARGET_TIMES, 1.2 },
	  .measure = list_warm_measure },
	{ .name = "copy-in",
	  .title = "copy an artifact in",
	  .unit = UNIT_BYTES,
	  .target = { TARGET_SHARE, 0.7 },
	  .measure = copy_in_measure },
	{ .name = "copy-out",
	  .title = "read it back, cold",
	  .unit = UNIT_BYTES,
	  .target = { TARGET_SHARE, 0.7 },
	  .measure = copy_out_measure },
	{ .name = "artifact-change",
	  .title = "change 4 KiB of an artifact",
	  .unit = UNIT_SECONDS,
	  .target = { TARGET_ADDED, 0.01 },
	  .measure = change_measure,
	  .more = { { "  bytes stored for it", UNIT_MEMORY, { TARGET_BELOW, 2e6 } } } },
	{ .name = "turn",
	  .title = "a turn of the script model",
	  .unit = UNIT_SECONDS,
	  .target = { TARGET_ADDED, 0.001 },
	  .measure = turn_measure },
	{ .name = "million",
	  .title = "list a million, cold",
	  .unit = UNIT_SECONDS,
	  .target = { TARGET_TIMES, 1.2 },
	  .measure = names_cold_measure,
	  .apart = true },
	{ .name = "million-walk",
	  .title = "list and lstat of a million",
	  .unit = UNIT_SECONDS,
	  .target = { TARGET_TIMES, 1.2 },
	  .measure = list_cold_measure,
	  .apart = true },
};

static const struct size size_full = {
	.seconds = 0.5,
	.appends = 50000,
	.turns = 200,
	.artifact = 1 << 30,
};

static const struct size size_quick = {
	.seconds = 0.1,
	.appends = 5000,
	.turns = 20,
	.artifact = 100 << 20,
};

struct options {
	const struct size *size;
	unsigned runs;
	const char *only; /* rows with commas between them, NULL for all */
	const char *name;
	const char *side[2]; /* the floor, then what is measured */
};

/* What the runs of one row gave on one side. */
struct column {
	double value[RUNS_MAX], more[MORE_MAX][RUNS_MAX];
	unsigned count;
};

static bool row_chosen(const struct row *row, const char *only)
{
	size_t len = strlen(row->name);

	if (!only)
		return !row->apart;

	for (const char *at = only; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strcspn(at, ",") == len && !strncmp(at, row->name, len))
			return true;
	}
	return false;
}

/* One run of one side; a failure is told and leaves no value. */
static void run_once(const struct row *row, const struct options *o, int side, struct column *c)
{
	struct sample s = { .value = NAN, .more = { NAN, NAN, NAN } };
	int r = row->measure(o->size, o->side[side], &s);

	if (r < 0) {
		fprintf(stderr, "bench: %s in %s: %s\n", row->name, o->side[side], strerror(-r));
		return;
	}
	c->value[c->count] = s.value;
	for (int i = 0; i < MORE_MAX; i++)
		c->more[i][c->count] = s.more[i];
	c->count++;
}

static void row_run(const struct row *row, const struct options *o)
{
	static struct column c[2];

	c[0].count = c[1].count = 0;
	for (unsigned i = 0; i < o->runs; i++)
		for (int side = 0; side < 2; side++)
			run_once(row, o, side, &c[side]);

	report_row(row->title, row->unit, row->target, median(c[1].value, c[1].count),
		   median(c[0].value, c[0].count));
	for (int i = 0; i < MORE_MAX && row->more[i].title; i++)
		report_row(row->more[i].title, row->more[i].unit, row->more[i].target,
			   median(c[1].more[i], c[1].count), median(c[0].more[i], c[0].count));
}

static int rows_list(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		printf("%-16s %s\n", rows[i].name, rows[i].title);
	return 0;
}

static int usage(void)
{
	fprintf(stderr, "usage: bench [-q] [-k RUNS] [-r ROW,ROW] [-n NAME] [-s STORE] FLOOR PATH\n"
			"       bench -l\n");
	return 2;
}

static bool option_read(struct options *o, int c)
{
	if (c == 'q')
		o->size = &size_quick;
	else if (c == 'k')
		o->runs = (unsigned)strtoul(optarg, NULL, 10);
	else if (c == 'r')
		o->only = optarg;
	else if (c == 'n')
		o->name = optarg;
	else if (c == 's')
		store.folder = optarg;
	return c != '?' && o->runs > 0 && o->runs <= RUNS_MAX;
}

int main(int argc, char **argv)
{
	struct options o = { .size = &size_full, .runs = RUNS, .name = "adkfs" };
	int c;

	while ((c = getopt(argc, argv, "lqk:r:n:s:")) != -1) {
		if (c == 'l')
			return rows_list();
		if (!option_read(&o, c))
			return usage();
	}
	if (argc - optind != 2)
		return usage();
	o.side[0] = argv[optind];
	o.side[1] = argv[optind + 1];
	store.root = o.side[1];

	report_line("row", o.name, "floor", "ratio", "target", "");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (row_chosen(&rows[i], o.only))
			row_run(&rows[i], &o);
	return 0;
}
