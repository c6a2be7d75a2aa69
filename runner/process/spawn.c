/*
 * Spawning: see spawn.h.
 *
 * The child comes from vfork(2): the daemon's memory may be large, and a copy of
 * its page tables slow. The child borrows our memory until it execs, so it makes
 * system calls and nothing else. No handler of ours may run in it, so all signals
 * are blocked around it. An error in the child comes back through a pipe that
 * closes on exec.
 */
#include "runner/process/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the child */

static int set_signals(void)
{
	struct sigaction usual = { .sa_handler = SIG_DFL };
	sigset_t none;
	int i;

	for (i = 1; i < NSIG; i++)
		(void)sigaction(i, &usual, NULL); /* refused for KILL, STOP and libc's own */
	(void)sigemptyset(&none);
	return sigprocmask(SIG_SETMASK, &none, NULL);
}

static int set_limits(const struct spawn *s)
{
	struct rlimit none = { 0, 0 };
	struct rlimit files;

	if (setrlimit(RLIMIT_CORE, &none) < 0 || getrlimit(RLIMIT_NOFILE, &files) < 0)
		return -1;
	files.rlim_cur = MIN(files.rlim_cur, SPAWN_FILES_MAX);
	if (setrlimit(RLIMIT_NOFILE, &files) < 0)
		return -1;
	return s->may_gain ? 0 : prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* A parent that has ended already cannot cause the signal any more. */
static int set_end(const struct spawn *s, pid_t parent)
{
	if (!s->stays)
		return 0;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return -1;
	if (getppid() != parent)
		_exit(127);
	return 0;
}

/* The given descriptors become 0 to 4; the exec closes all others, even that of the report. */
static int set_descriptors(const struct spawn *s)
{
	int i;

	for (i = 0; i < SPAWN_FDS && s->fds[i] >= 0; i++) {
		int r = s->fds[i] == i ? fcntl(i, F_SETFD, 0) : dup2(s->fds[i], i);

		if (r < 0)
			return r;
	}
	return close_range((unsigned)i, ~0u, CLOSE_RANGE_CLOEXEC);
}

static _Noreturn void become_program(const struct spawn *s, int report, pid_t parent)
{
	int failed;

	/* Out of the way of 0 to 4. */
	report = fcntl(report, F_DUPFD_CLOEXEC, SPAWN_FDS);
	if (report >= 0 && setsid() >= 0 && set_descriptors(s) == 0 && set_limits(s) == 0 &&
	    chdir(s->folder) == 0 && set_end(s, parent) == 0 && set_signals() == 0)
		(void)execve(s->program, s->argv, s->env);
	failed = errno;
	/* Without a report the program has ended with status 127, as in a shell. */
	(void)!write(report, &failed, sizeof failed);
	_exit(127);
}

/* In this process */

/* Read the errno that the child reports. 0: the pipe closed with its exec. */
static int read_report(int fd, pid_t child)
{
	int failed = 0;
	ssize_t n;

	do {
		n = read(fd, &failed, sizeof failed);
	} while (n < 0 && errno == EINTR);
	if (n != sizeof failed)
		return 0;
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return -failed;
}

int spawn_start(const struct spawn *s, pid_t *pid)
{
	int report[2];
	sigset_t all;
	sigset_t before;
	pid_t parent = getpid();
	pid_t child;
	int r;

	if (pipe2(report, O_CLOEXEC) < 0)
		return -errno;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_BLOCK, &all, &before);
	child = vfork();
	if (child == 0)
		become_program(s, report[1], parent);
	r = child < 0 ? -errno : 0;
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)close(report[1]);
	if (r == 0)
		r = read_report(report[0], child);
	(void)close(report[0]);
	if (r == 0)
		*pid = child;
	return r;
}
