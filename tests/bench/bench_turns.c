/*
 * bench_turns: what turns cost, one by one and many at once.
 *
 *	bench_turns tool ROOT STORE PROGRAM [-k RUNS] [-n COUNT]
 *	bench_turns many ROOT STORE [-k RUNS] [-n COUNT]
 *	bench_turns waiting ROOT STORE [-n COUNT]
 *
 * tool		COUNT turns of one session, each with one call of PROGRAM; the floor is
 *		starting PROGRAM and waiting for its end, without the daemon.
 * many		Turns per second over COUNT sessions, by a client with as many threads as
 *		there are cores. The floor is one session alone.
 * waiting	COUNT turns wait for a model behind HTTP that said a word and then no more:
 *		what the daemon holds for them, and how long `ls -l` of another session takes
 *meanwhile. The floor is the same mount before. They are cancelled in the end.
 *
 * Each run has sessions of its own, for a turn reads what was said before.
 */
#include "base/cc.h"
#include "tests/bench/measure.h"
#include "tests/bench/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	RUNS = 5,
	TURNS = 100, /* of a run with calls */
	SESSIONS = 500,
	WAITING = 1000,
	THREADS_MAX = 64,
	LISTINGS = 100,
	POLL_US = 10 * 1000,
	PATIENCE = 60, /* seconds */
};

struct options {
	const char *root;
	const char *program;
	unsigned runs, count;
	int daemon; /* its process */
};

static void close_p(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* A new session in the folder of a user, which may have to be made; its path. */
static int session_new(const struct options *o, const char *user, unsigned n, char path[PATH_MAX])
{
	static unsigned made;
	int len = snprintf(path, PATH_MAX, "%s/", o->root);

	snprintf(path + len, PATH_MAX - (size_t)len, "%s/sessions/s%d-%u-%u", user, (int)getpid(),
		 n, made++);
	for (char *slash = path + len; (slash = strchr(slash + 1, '/'));) {
		*slash = 0;
		(void)mkdir(path, 0700); /* or it is there */
		*slash = '/';
	}
	return mkdir(path, 0700) ? -errno : 0;
}

static int file_open(const char *session, const char *name, int flags)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/%s", session, name);
	return open(path, flags | O_CLOEXEC);
}

static int message_send(const char *session, const char *text)
{
	int fd = file_open(session, "input", O_WRONLY);
	bool sent = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd < 0)
		return -errno;
	return close(fd) || !sent ? -EIO : 0;
}

/* The text of a file, until its end; for the files of a turn that is when it ends. */
static int file_read(const char *session, const char *name, char text[256])
{
	CLEANUP(close_p) int fd = file_open(session, name, O_RDONLY);
	size_t len = 0;
	ssize_t n = 1;

	while (fd >= 0 && n > 0 && len < 255) {
		n = read(fd, text + len, 255 - len);
		len += n > 0 ? (size_t)n : 0;
	}
	text[len] = 0;
	return fd < 0 || n < 0 ? -EIO : 0;
}

static int turn_once(const char *session, const char *message)
{
	char text[256];
	int r = message_send(session, message);

	if (r == 0)
		r = file_read(session, "output", text);
	return r == 0 && !*text ? -ENODATA : r;
}

/* The program as the daemon starts it: its end is when its output ends. */
static int program_once(const char *program)
{
	char *argv[] = { (char *)program, NULL }, *env[] = { NULL };
	posix_spawn_file_actions_t actions;
	int status = 1, ends[2];
	char text[256];
	pid_t pid;
	int r;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
	r = posix_spawn(&pid, program, &actions, NULL, argv, env);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	while (r == 0 && read(ends[0], text, sizeof(text)) > 0)
		;
	close(ends[0]);
	if (r == 0)
		waitpid(pid, &status, 0);
	return r ? -r : status ? -EIO : 0;
}

static int tool_once(const struct options *o, double *took, double *floor)
{
	char session[PATH_MAX];
	double turns[TURNS * 10], programs[TURNS * 10];
	int r = session_new(o, TREE_TOOL, 0, session);

	for (unsigned i = 0; i < o->count && r == 0; i++) {
		double start = seconds_now(), middle;

		r = program_once(o->program);
		middle = seconds_now();
		if (r == 0)
			r = turn_once(session, TREE_TOOL_MESSAGE);
		turns[i] = seconds_now() - middle;
		programs[i] = middle - start;
	}
	*took = median(turns, o->count);
	*floor = median(programs, o->count);
	return r;
}

static int tool_run(struct options *o)
{
	static const struct target added = { TARGET_ADDED, 0.001 };
	double took[RUNS_MAX], floor[RUNS_MAX];
	unsigned count = 0;

	for (unsigned i = 0; i < o->runs; i++) {
		int r = tool_once(o, &took[count], &floor[count]);

		if (r < 0)
			fprintf(stderr, "bench_turns: tool: %s\n", strerror(-r));
		count += r == 0;
	}
	report_row("a turn with one tool call", UNIT_SECONDS, added, median(took, count),
		   median(floor, count));
	return count == 0;
}

/* Sessions that the threads of a client take their turns in, one after the other. */
struct crowd {
	char (*sessions)[PATH_MAX];
	unsigned count;
	atomic_uint next;
	atomic_int failed;
};

static void *crowd_work(void *arg)
{
	struct crowd *c = arg;
	unsigned i;

	while ((i = atomic_fetch_add(&c->next, 1)) < c->count) {
		if (turn_once(c->sessions[i], "hello\n") < 0)
			c->failed = 1;
	}
	return NULL;
}

static int crowd_turns(struct crowd *c, double *rate)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned threads = cores < 1 ? 1 : MIN((unsigned)cores, (unsigned)THREADS_MAX);
	double start = seconds_now();
	pthread_t thread[THREADS_MAX];

	for (unsigned i = 0; i < threads; i++) {
		if (pthread_create(&thread[i], NULL, crowd_work, c))
			threads = i;
	}
	for (unsigned i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	*rate = c->count / (seconds_now() - start);
	return threads == 0 || c->failed ? -EIO : 0;
}

/* As many turns in one session, but for no more than a tenth: they get longer. */
static int one_alone(const struct options *o, double *rate)
{
	char session[PATH_MAX];
	unsigned turns = MAX(o->count / 10, 1u);
	int r = session_new(o, TREE_SWARM, 0, session);
	double start = seconds_now();

	for (unsigned i = 0; i < turns && r == 0; i++)
		r = turn_once(session, "hello\n");
	*rate = turns / (seconds_now() - start);
	return r;
}

static int many_once(const struct options *o, double *rate, double *alone)
{
	struct crowd c = { .count = o->count };
	int r = one_alone(o, alone);

	c.sessions = calloc(o->count, sizeof(*c.sessions));
	if (!c.sessions)
		return -ENOMEM;
	for (unsigned i = 0; i < o->count && r == 0; i++)
		r = session_new(o, TREE_SWARM, i, c.sessions[i]);
	if (r == 0)
		r = crowd_turns(&c, rate);
	free(c.sessions);
	return r;
}

static int many_run(struct options *o)
{
	static const struct target enough = { TARGET_ABOVE, 500 };
	double rate[RUNS_MAX], alone[RUNS_MAX];
	unsigned count = 0;

	for (unsigned i = 0; i < o->runs; i++) {
		int r = many_once(o, &rate[count], &alone[count]);

		if (r < 0)
			fprintf(stderr, "bench_turns: many: %s\n", strerror(-r));
		count += r == 0;
	}
	report_row("turns in many sessions", UNIT_RATE, enough, median(rate, count),
		   median(alone, count));
	return count == 0;
}

/* The median of listings with attributes. */
static double listing_time(const char *session)
{
	double took[LISTINGS];

	for (unsigned i = 0; i < LISTINGS; i++) {
		double start = seconds_now();
		DIR *dir = opendir(session);
		struct dirent *entry;
		struct stat st;

		while (dir && (entry = readdir(dir)))
			(void)fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW);
		took[i] = dir ? seconds_now() - start : NAN;
		if (dir)
			closedir(dir);
	}
	return median(took, LISTINGS);
}

static int threads_of(int pid)
{
	char path[64];
	struct dirent *entry;
	int count = -2; /* . and .. */
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

/* Until the session's first turn runs and has said something: it waits for the model then. */
static int await_waiting(const char *session)
{
	double deadline = seconds_now() + PATIENCE;
	struct stat st = { 0 };
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/output", session);
	while (seconds_now() < deadline) {
		if (stat(path, &st) == 0 && st.st_size > 0)
			return 0;
		usleep(POLL_US);
	}
	return -ETIMEDOUT;
}

static int waiting_start(const struct options *o, char (*sessions)[PATH_MAX])
{
	int r = 0;

	for (unsigned i = 0; i < o->count && r == 0; i++) {
		r = session_new(o, TREE_WAITING, i, sessions[i]);
		if (r == 0)
			r = message_send(sessions[i], "hello\n");
	}
	for (unsigned i = 0; i < o->count && r == 0; i++)
		r = await_waiting(sessions[i]);
	return r;
}

static int waiting_cancel(const struct options *o, char (*sessions)[PATH_MAX], double *took)
{
	double start = seconds_now();
	char text[256];
	int r = 0;

	for (unsigned i = 0; i < o->count && r == 0; i++) {
		CLEANUP(close_p) int fd = file_open(sessions[i], "ctl", O_WRONLY);

		if (fd < 0 || write(fd, "cancel\n", 7) != 7)
			r = -EIO;
	}
	for (unsigned i = 0; i < o->count && r == 0; i++)
		r = file_read(sessions[i], "wait", text);
	*took = (seconds_now() - start) / o->count;
	return r;
}

static int waiting_run(struct options *o)
{
	static const struct target same = { TARGET_TIMES, 1.5 }, small = { TARGET_BELOW, 200e6 },
				   none = { TARGET_NONE, 0 }, soon = { TARGET_BELOW, 0.01 };
	char(*sessions)[PATH_MAX] = calloc(o->count, sizeof(*sessions));
	double alone = NAN, listing = NAN, memory = NAN, before = NAN, cancel = NAN;
	char quiet[PATH_MAX], threads[16] = "-";
	int r = sessions ? session_new(o, TREE_SWARM, 0, quiet) : -ENOMEM;

	if (r == 0) {
		alone = listing_time(quiet);
		before = resident_memory(o->daemon);
		r = waiting_start(o, sessions);
	}
	if (r == 0) {
		memory = resident_memory(o->daemon);
		snprintf(threads, sizeof(threads), "%d", threads_of(o->daemon));
		listing = listing_time(quiet);
		r = waiting_cancel(o, sessions, &cancel);
	}
	free(sessions);
	if (r < 0)
		fprintf(stderr, "bench_turns: waiting: %s\n", strerror(-r));
	report_row("ls -l, while turns wait", UNIT_SECONDS, same, listing, alone);
	report_row("  memory of the daemon", UNIT_MEMORY, small, memory, before);
	report_row("  of a turn that waits", UNIT_MEMORY, none, (memory - before) / o->count, NAN);
	report_line("  threads", threads, "-", "-", "-", "");
	report_row("  to cancel one", UNIT_SECONDS, soon, cancel, NAN);
	return r < 0;
}

static const struct command {
	const char *name;
	int (*run)(struct options *o);
	unsigned count, most;
} commands[] = {
	{ "tool", tool_run, TURNS, TURNS * 10 },
	{ "many", many_run, SESSIONS, 100000 },
	{ "waiting", waiting_run, WAITING, 100000 },
};

static int usage(void)
{
	fprintf(stderr,
		"usage: bench_turns tool|many|waiting ROOT STORE [PROGRAM] [-k RUNS] [-n COUNT]\n");
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
	if (command->run == tool_run)
		o.program = argv[optind++];
	while ((c = getopt(argc, argv, "k:n:")) != -1) {
		unsigned n = c == '?' ? 0 : (unsigned)strtoul(optarg, NULL, 10);

		if (n == 0)
			return usage();
		*(c == 'k' ? &o.runs : &o.count) = n;
	}
	if (optind != argc || o.runs > RUNS_MAX || o.count > command->most ||
	    (command->run == tool_run && !o.program))
		return usage();
	o.root = argv[2];
	o.daemon = daemon_find(argv[3]);
	if (!o.daemon) {
		fprintf(stderr, "bench_turns: nobody has the store %s\n", argv[3]);
		return 1;
	}
	return command->run(&o);
}
