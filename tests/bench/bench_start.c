/*
 * bench_start: how long a program needs until it answers, and what it holds then.
 *
 *	bench_start [-k RUNS] FLOOR_PROBE FLOOR_COMMAND... -- PROBE COMMAND...
 *
 * Runs each command in turns. It answers when stat(PROBE) succeeds; the time is
 * counted from the exec. Then its resident memory is read, and it gets SIGTERM.
 * A command may put itself in the background: what it leaves behind becomes a
 * child of this program.
 */
#include "base/cc.h"
#include "tests/bench/measure.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	RUNS = 5,
	POLL_US = 500,
	PATIENCE = 60, /* seconds for an answer, and for an end */
	CHILDREN_MAX = 32,
};

struct side {
	const char *probe;
	char **command;
	double seconds[RUNS_MAX], bytes[RUNS_MAX];
	unsigned count;
};

/* The processes that a process started and has not waited for. */
static unsigned children(pid_t parent, pid_t pids[CHILDREN_MAX])
{
	char path[64];
	unsigned n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", parent, parent);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (n < CHILDREN_MAX && fscanf(f, "%d", &pids[n]) == 1)
		n++;
	fclose(f);
	return n;
}

/* Of the largest process below this one: a daemon may have others that start or watch it. */
static double resident_below(pid_t parent)
{
	pid_t pids[CHILDREN_MAX];
	unsigned n = children(parent, pids);
	double bytes = 0;

	for (unsigned i = 0; i < n; i++) {
		bytes = MAX(bytes, resident_memory(pids[i]));
		bytes = MAX(bytes, resident_below(pids[i]));
	}
	return bytes;
}

/* SIGTERM for each child that was not told yet. */
static void children_tell(pid_t told[CHILDREN_MAX], unsigned *count)
{
	pid_t pids[CHILDREN_MAX];
	unsigned n = children(getpid(), pids);

	for (unsigned i = 0; i < n && *count < CHILDREN_MAX; i++) {
		bool known = false;

		for (unsigned j = 0; j < *count; j++)
			known |= told[j] == pids[i];
		if (known)
			continue;
		kill(pids[i], SIGTERM);
		told[(*count)++] = pids[i];
	}
}

/* Ends what this program started, and what becomes its child when its parent ends. */
static void children_end(void)
{
	double deadline = seconds_now() + PATIENCE;
	pid_t told[CHILDREN_MAX];
	unsigned count = 0;

	do {
		children_tell(told, &count);
		usleep(POLL_US);
	} while (waitpid(-1, NULL, WNOHANG) >= 0 && seconds_now() < deadline);
}

/* True when `probe` answers; false when nothing is left that could, or it takes too long. */
static bool answered(const char *probe)
{
	double deadline = seconds_now() + PATIENCE;
	struct stat st;

	while (stat(probe, &st)) {
		if (waitpid(-1, NULL, WNOHANG) < 0 || seconds_now() > deadline)
			return false;
		usleep(POLL_US);
	}
	return true;
}

static int start_once(struct side *s)
{
	double start = seconds_now();
	pid_t pid = fork();
	bool ok;

	if (pid < 0)
		return -errno;
	if (pid == 0) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execvp(s->command[0], s->command);
		_exit(127);
	}
	ok = answered(s->probe);
	if (ok) {
		s->seconds[s->count] = seconds_now() - start;
		s->bytes[s->count] = resident_below(getpid());
		s->count++;
	}
	children_end();
	return ok ? 0 : -ETIMEDOUT;
}

static void report(struct side *floor, struct side *it)
{
	static const struct target ready = { TARGET_BELOW, 0.3 }, small = { TARGET_BELOW, 100e6 };

	report_row("start: until it answers", UNIT_SECONDS, ready, median(it->seconds, it->count),
		   median(floor->seconds, floor->count));
	report_row("start: resident memory", UNIT_MEMORY, small, median(it->bytes, it->count),
		   median(floor->bytes, floor->count));
}

/* Cut the arguments at "--" into two sides. */
static bool sides_read(struct side side[2], char **args)
{
	for (int i = 0; i < 2; i++) {
		if (!args[0] || !args[1])
			return false;
		side[i].probe = *args++;
		side[i].command = args;
		while (*args && strcmp(*args, "--"))
			args++;
		if (i == 0 && *args)
			*args++ = NULL;
	}
	return !*args;
}

int main(int argc, char **argv)
{
	static struct side side[2];
	unsigned runs = RUNS;
	int c;

	while ((c = getopt(argc, argv, "+k:")) != -1)
		runs = c == 'k' ? (unsigned)strtoul(optarg, NULL, 10) : 0;
	if (runs == 0 || runs > RUNS_MAX || !sides_read(side, argv + optind)) {
		fprintf(stderr, "usage: bench_start [-k RUNS] FLOOR_PROBE FLOOR_COMMAND... "
				"-- PROBE COMMAND...\n");
		return 2;
	}
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
		return 1;
	for (unsigned i = 0; i < runs * 2; i++) {
		struct side *s = &side[i % 2];

		if (start_once(s) < 0)
			fprintf(stderr, "bench_start: %s did not answer\n", s->command[0]);
	}
	report(&side[0], &side[1]);
	return 0;
}
