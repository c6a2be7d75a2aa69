/*
 * bench_daemon: what the daemon of a mount holds, and what waiting costs it.
 *
 *	bench_daemon parked ROOT STORE [-k RUNS] [-n COUNT]
 *	bench_daemon inodes ROOT STORE [-n COUNT]
 *
 * parked	COUNT reads wait for the end of one turn, half of them on `wait`, half
 *		on `output`. The floor is the same mount while nobody waits.
 * inodes	Lists the directory of many, which the kernel must not know yet, and
 *		looks at the daemon after COUNT names and after all.
 *
 * The daemon is the process that holds the lock of the store.
 */
#include "base/cc.h"
#include "tests/bench/measure.h"
#include "tests/bench/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	RUNS = 5,
	READERS = 1000,
	READERS_MAX = 8000,
	NAMES = 200000,
	STACK = 64 << 10, /* of a thread that reads */
	SETTLE_US = 200 * 1000,
	POLL_US = 1000,
	PATIENCE = 60, /* seconds */
};

static const double RATE_SECONDS = 0.5;

struct options {
	const char *root;
	unsigned runs, count;
	int daemon; /* its process */
};

static void fail(const char *what, int error)
{
	fprintf(stderr, "bench_daemon: %s: %s\n", what, strerror(error));
	exit(1);
}

static void close_p(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static void path_of(char path[PATH_MAX], const char *root, const char *name)
{
	snprintf(path, PATH_MAX, "%s/%s", root, name);
}

/* Opens, reads and closes of a state file per second: the daemon answers each open. */
static int opens_rate(const char *root, double *rate)
{
	double start = seconds_now(), took = 0;
	unsigned long count = 0;
	char path[PATH_MAX], text[256];

	path_of(path, root, TREE_STATE);
	while (took < RATE_SECONDS) {
		CLEANUP(close_p) int fd = open(path, O_RDONLY | O_CLOEXEC);

		if (fd < 0 || read(fd, text, sizeof(text)) <= 0)
			return -EIO;
		count++;
		took = seconds_now() - start;
	}
	*rate = (double)count / took;
	return 0;
}

/* One that reads until the end of the file, which comes with the end of the turn. */
struct reader {
	pthread_t thread;
	const char *root;
	const char *file;
	atomic_uint *opened;
	double end;
};

static void *reader_run(void *arg)
{
	struct reader *r = arg;
	CLEANUP(close_p) int fd = -1;
	char path[PATH_MAX], text[256];
	ssize_t n = 1;

	snprintf(path, sizeof(path), "%s/" TREE_PARKED "/%s", r->root, r->file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	atomic_fetch_add(r->opened, 1);
	while (fd >= 0 && n > 0)
		n = read(fd, text, sizeof(text));
	r->end = fd < 0 || n < 0 ? NAN : seconds_now();
	return NULL;
}

static int message_send(const char *root)
{
	char path[PATH_MAX];
	int fd;

	path_of(path, root, TREE_PARKED "/input");
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, TREE_PARK_MESSAGE, strlen(TREE_PARK_MESSAGE)) < 0) {
		close(fd);
		return -EIO;
	}
	return close(fd) ? -errno : 0;
}

/* Starts them and waits until all are about to read; ends the program when they do not. */
static void readers_start(struct reader *readers, const struct options *o, atomic_uint *opened)
{
	double deadline = seconds_now() + PATIENCE;
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	for (unsigned i = 0; i < o->count; i++) {
		readers[i] = (struct reader){ .root = o->root,
					      .file = i % 2 ? "wait" : "output",
					      .opened = opened };
		if (pthread_create(&readers[i].thread, &attr, reader_run, &readers[i]))
			fail("threads", EAGAIN);
	}
	pthread_attr_destroy(&attr);
	while (*opened < o->count && seconds_now() < deadline)
		usleep(POLL_US);
	if (*opened < o->count)
		fail("readers", ETIMEDOUT);
	usleep(SETTLE_US);
}

/* Joins them. Sets when the first and the last had its answer. */
static int readers_end(struct reader *readers, unsigned count, double *first, double *last)
{
	int r = 0;

	*first = INFINITY;
	*last = 0;
	for (unsigned i = 0; i < count; i++) {
		pthread_join(readers[i].thread, NULL);
		if (isnan(readers[i].end))
			r = -EIO;
		*first = fmin(*first, readers[i].end);
		*last = fmax(*last, readers[i].end);
	}
	return r;
}

struct parked {
	double rate[RUNS_MAX], alone[RUNS_MAX], bytes[RUNS_MAX], spread[RUNS_MAX];
	unsigned count;
};

static int parked_once(const struct options *o, struct parked *p)
{
	static struct reader readers[READERS_MAX];
	double before, measured, first, last;
	unsigned n = p->count;
	atomic_uint opened = 0;
	int r = opens_rate(o->root, &p->alone[n]);

	if (r == 0)
		r = message_send(o->root);
	if (r < 0)
		return r;
	before = resident_memory(o->daemon);
	readers_start(readers, o, &opened);
	p->bytes[n] = fmax(resident_memory(o->daemon) - before, 0) / o->count;
	r = opens_rate(o->root, &p->rate[n]);
	measured = seconds_now();
	if (readers_end(readers, o->count, &first, &last) < 0 || r < 0)
		return -EIO;
	p->spread[n] = last - first;
	if (first < measured)
		return -ETIME; /* the turn ended while the rate was taken */
	p->count++;
	return 0;
}

static int parked_run(struct options *o)
{
	static const struct target same = { TARGET_SHARE, 0.8 }, small = { TARGET_BELOW, 4096 },
				   soon = { TARGET_BELOW, 0.1 };
	static struct parked p;

	for (unsigned i = 0; i < o->runs; i++) {
		int r = parked_once(o, &p);

		if (r < 0)
			fprintf(stderr, "bench_daemon: parked: %s\n", strerror(-r));
	}
	report_row("open, while reads are parked", UNIT_RATE, same, median(p.rate, p.count),
		   median(p.alone, p.count));
	/* Only the first run grows the daemon: later ones find the memory of those before. */
	report_row("  memory of a parked read", UNIT_MEMORY, small, p.count ? p.bytes[0] : NAN,
		   NAN);
	report_row("  first to last answer", UNIT_SECONDS, soon, median(p.spread, p.count), NAN);
	return p.count == 0;
}

/* Reads that many names, or all that are left; the kernel gets their attributes with them. */
static unsigned names_read(DIR *dir, unsigned most)
{
	unsigned count = 0;

	while (count < most && readdir(dir))
		count++;
	return count;
}

static int inodes_run(struct options *o)
{
	static const struct target small = { TARGET_BELOW, 512 }, none = { TARGET_NONE, 0 };
	char path[PATH_MAX];
	double before, after;
	unsigned count;
	DIR *dir;

	path_of(path, o->root, TREE_MANY);
	dir = opendir(path);
	if (!dir)
		return 1;
	(void)names_read(dir, o->count); /* caches that have a limit are full by now */
	before = resident_memory(o->daemon);
	count = names_read(dir, UINT_MAX);
	after = resident_memory(o->daemon);
	closedir(dir);
	if (count == 0)
		return 1;
	report_row("memory of a cached inode", UNIT_MEMORY, small, (after - before) / count, NAN);
	report_row("  of the daemon with all names", UNIT_MEMORY, none, after, NAN);
	return 0;
}

static const struct command {
	const char *name;
	int (*run)(struct options *o);
	unsigned count;
} commands[] = {
	{ "parked", parked_run, READERS },
	{ "inodes", inodes_run, NAMES },
};

static int usage(void)
{
	fprintf(stderr, "usage: bench_daemon parked|inodes ROOT STORE [-k RUNS] [-n COUNT]\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct options o = { .runs = RUNS };
	const struct command *command = NULL;
	int c;

	for (size_t i = 0; argc >= 4 && i < ARRAY_SIZE(commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			command = &commands[i];
	if (!command)
		return usage();
	o.count = command->count;
	optind = 4;
	while ((c = getopt(argc, argv, "k:n:")) != -1) {
		unsigned n = c == '?' ? 0 : (unsigned)strtoul(optarg, NULL, 10);

		if (n == 0)
			return usage();
		*(c == 'k' ? &o.runs : &o.count) = n;
	}
	if (optind != argc || o.runs > RUNS_MAX ||
	    (command->run == parked_run && o.count > READERS_MAX))
		return usage();
	o.root = argv[2];
	o.daemon = daemon_find(argv[3]);
	if (!o.daemon) {
		fprintf(stderr, "bench_daemon: nobody has the store %s\n", argv[3]);
		return 1;
	}
	return command->run(&o);
}
