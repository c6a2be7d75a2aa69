/*
 * bench: what a user's operations cost, side by side with the floor.
 *
 *	bench [-q] [-k RUNS] [-r ROW,ROW] [-n NAME] FLOOR PATH
 *	bench -l
 *
 * FLOOR and PATH hold the tree of tree.h, made by bench_fill: a mount of
 * floor_server and one of adkfs, or any directory. Each row is measured on
 * one, then on the other, RUNS times; the medians are compared. -q does a
 * tenth of everything, -n names the second side in the heading. The table of
 * rows is at the end.
 */
#include "base/cc.h"
#include "tests/bench/measure.h"
#include "tests/bench/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
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
	SETTLE_US = 300 * 1000, /* for the FORGETs after names were dropped */
};

/* How much of each thing is done in one run. */
struct size {
	double seconds; /* of the rows that count operations */
	unsigned appends;
	unsigned turns;
	off_t artifact;
};

/* One run. The rates of its first and last tenth are NAN where there is no such thing. */
struct sample {
	double value, first, last;
};

typedef int measure_fn(const struct size *size, const char *root, struct sample *out);
typedef int once_fn(const char *path);

struct row {
	const char *name;
	const char *title;
	enum unit unit;
	struct target target;
	measure_fn *measure;
};

static char block[BLOCK];

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
	r = events_append(fd, 0, tenth, &out->first);
	if (r == 0)
		r = events_append(fd, tenth, all - tenth, &middle);
	if (r == 0)
		r = events_append(fd, all - tenth, all, &out->last);
	out->value = all / (seconds_now() - start);
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
static int names_cool(const char *root)
{
	struct statvfs st;
	struct statfs fs;

	if (statfs(root, &fs) || statvfs(root, &st))
		return -errno;
	if (fs.f_type != FUSE_SUPER_MAGIC)
		return 0;
	if (mount(NULL, root, NULL, MS_REMOUNT | (st.f_flag & (MS_NOSUID | MS_NODEV)), NULL))
		return -errno;
	usleep(SETTLE_US);
	return 0;
}

/* What `ls -l` asks: every name, and lstat of each. Sets the seconds it took. */
static int list(const char *root, struct sample *out)
{
	double start = seconds_now();
	char path[PATH_MAX];
	unsigned count = 0;
	struct dirent *e;
	struct stat st;
	int r = 0;
	DIR *dir;

	path_of(path, root, TREE_MANY);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (r == 0 && (e = readdir(dir))) {
		r = fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) ? -errno : 0;
		count++;
	}
	closedir(dir);
	out->value = seconds_now() - start;
	return r == 0 && count < 3 ? -ENODATA : r;
}

static int list_cold_measure(const struct size *size, const char *root, struct sample *out)
{
	int r = names_cool(root);

	(void)size;
	return r < 0 ? r : list(root, out);
}

static int list_warm_measure(const struct size *size, const char *root, struct sample *out)
{
	int r = list(root, out);

	(void)size;
	return r < 0 ? r : list(root, out);
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
	{ "stat", "stat of a hot file", UNIT_RATE, { TARGET_TIMES, 1.2 }, stat_measure },
	{ "open",
	  "open, read, close a state file",
	  UNIT_RATE,
	  { TARGET_SHARE, 0.6 },
	  state_read_measure },
	{ "overwrite",
	  "overwrite a state file",
	  UNIT_RATE,
	  { TARGET_SHARE, 0.6 },
	  overwrite_measure },
	{ "append", "append an event", UNIT_RATE, { TARGET_SHARE, 0.35 }, append_measure },
	{ "log-cold", "read the log, cold", UNIT_BYTES, { TARGET_SHARE, 0.25 }, log_cold_measure },
	{ "log-warm", "read the log, warm", UNIT_BYTES, { TARGET_SHARE, 0.9 }, log_warm_measure },
	{ "list-cold",
	  "list and lstat of many, cold",
	  UNIT_SECONDS,
	  { TARGET_TIMES, 1.5 },
	  list_cold_measure },
	{ "list-warm",
	  "list and lstat of many, warm",
	  UNIT_SECONDS,
	  { TARGET_TIMES, 1.5 },
	  list_warm_measure },
	{ "copy-in", "copy an artifact in", UNIT_BYTES, { TARGET_SHARE, 0.4 }, copy_in_measure },
	{ "copy-out", "read it back, cold", UNIT_BYTES, { TARGET_SHARE, 0.4 }, copy_out_measure },
	{ "turn",
	  "a turn of the script model",
	  UNIT_SECONDS,
	  { TARGET_ADDED, 0.001 },
	  turn_measure },
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
	double value[RUNS_MAX], first[RUNS_MAX], last[RUNS_MAX];
	unsigned count;
};

static bool row_chosen(const struct row *row, const char *only)
{
	size_t len = strlen(row->name);

	for (const char *at = only; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strcspn(at, ",") == len && !strncmp(at, row->name, len))
			return true;
	}
	return !only;
}

/* One run of one side; a failure is told and leaves no value. */
static void run_once(const struct row *row, const struct options *o, int side, struct column *c)
{
	struct sample s = { .value = NAN, .first = NAN, .last = NAN };
	int r = row->measure(o->size, o->side[side], &s);

	if (r < 0) {
		fprintf(stderr, "bench: %s in %s: %s\n", row->name, o->side[side], strerror(-r));
		return;
	}
	c->value[c->count] = s.value;
	c->first[c->count] = s.first;
	c->last[c->count] = s.last;
	c->count++;
}

static void report_tenths(struct column *c, enum unit unit)
{
	static const struct target none = { TARGET_NONE, 0 }, flat = { TARGET_ABOVE, 0.9 };
	double first[2], last[2];

	for (int i = 0; i < 2; i++) {
		first[i] = median(c[i].first, c[i].count);
		last[i] = median(c[i].last, c[i].count);
	}
	report_row("  its first 10 %", unit, none, first[1], first[0]);
	report_row("  its last 10 %", unit, none, last[1], last[0]);
	report_row("  last / first", UNIT_PART, flat, last[1] / first[1], last[0] / first[0]);
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
	if (c[1].count && !isnan(c[1].first[0]))
		report_tenths(c, row->unit);
}

static int rows_list(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		printf("%-12s %s\n", rows[i].name, rows[i].title);
	return 0;
}

static int usage(void)
{
	fprintf(stderr, "usage: bench [-q] [-k RUNS] [-r ROW,ROW] [-n NAME] FLOOR PATH\n"
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
	return c != '?' && o->runs > 0 && o->runs <= RUNS_MAX;
}

int main(int argc, char **argv)
{
	struct options o = { .size = &size_full, .runs = RUNS, .name = "adkfs" };
	int c;

	while ((c = getopt(argc, argv, "lqk:r:n:")) != -1) {
		if (c == 'l')
			return rows_list();
		if (!option_read(&o, c))
			return usage();
	}
	if (argc - optind != 2)
		return usage();
	o.side[0] = argv[optind];
	o.side[1] = argv[optind + 1];

	report_line("row", o.name, "floor", "ratio", "target", "");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (row_chosen(&rows[i], o.only))
			row_run(&rows[i], &o);
	return 0;
}
