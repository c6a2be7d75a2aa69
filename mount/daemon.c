/*
 * The process of the daemon: see daemon.h.
 */
#include "mount/daemon.h"

#include "base/log.h"
#include "base/mutex.h"
#include "mount/mountpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
	pthread_t main_thread; /* fixed after daemon_watch_signals() */

	char *path; /* the mount point; fixed after daemon_watch_mount() */
	int mounts; /* /proc/self/mounts, to poll; fixed after daemon_watch_mount() */

	/* Held while stop() or gone() runs, although these block: nobody else waits for it. */
	struct mutex lock;
	void (*stop)(void *arg) GUARDED_BY(lock); /* NULL after daemon_ignore_signals() */
	void *arg GUARDED_BY(lock);
	void (*gone)(void *arg) GUARDED_BY(lock); /* NULL after daemon_ignore_signals() */
	void *gone_arg GUARDED_BY(lock);
} watched = { .lock = MUTEX_INIT };

/* Exit with 0 when the child has written a byte, or with its exit status if it ends before. */
static void wait_for_child(int fd, pid_t child)
{
	char byte;
	ssize_t n;
	int status = 0;

	do {
		n = read(fd, &byte, 1);
	} while (n < 0 && errno == EINTR);
	if (n == 1)
		_exit(0);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

int daemon_fork(struct err *err)
{
	int fds[2];
	pid_t child;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_errno(err, -errno, "making a pipe");
	child = fork();
	if (child < 0)
		return err_errno(err, -errno, "forking the daemon");
	if (child) {
		(void)close(fds[1]);
		wait_for_child(fds[0], child);
	}
	(void)close(fds[0]);
	(void)setsid();
	return fds[1];
}

void daemon_ready(int fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null >= 0) {
		(void)dup2(null, STDIN_FILENO);
		(void)dup2(null, STDOUT_FILENO);
		(void)dup2(null, STDERR_FILENO);
		(void)close(null);
	}
	if (write(fd, "", 1) != 1)
		log_warning("the process that started this daemon has ended");
	(void)close(fd);
}

static void ending_signals(sigset_t *set)
{
	(void)sigemptyset(set);
	(void)sigaddset(set, SIGINT);
	(void)sigaddset(set, SIGTERM);
	(void)sigaddset(set, SIGHUP);
}

void daemon_block_signals(void)
{
	sigset_t set;

	ending_signals(&set);
	(void)pthread_sigmask(SIG_BLOCK, &set, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
}

static void do_nothing(int number)
{
	(void)number; /* the signal only ends a system call, with EINTR */
}

static void *wait_for_signal(void *arg)
{
	sigset_t set;
	int number;

	(void)arg;
	ending_signals(&set);
	(void)sigwait(&set, &number);
	log_info("received signal %d: shutting down", number);
	mutex_lock(&watched.lock);
	if (watched.stop)
		watched.stop(watched.arg);
	mutex_unlock(&watched.lock);
	(void)pthread_kill(watched.main_thread, SIGUSR1);
	return NULL;
}

static int start_thread(void *(*work)(void *), struct err *err)
{
	pthread_t thread;
	int r = -pthread_create(&thread, NULL, work, NULL);

	if (r < 0)
		return err_errno(err, r, "starting a thread");
	(void)pthread_detach(thread);
	return 0;
}

int daemon_watch_signals(void (*stop)(void *arg), void *arg, struct err *err)
{
	struct sigaction wake = { .sa_handler = do_nothing };

	mutex_lock(&watched.lock);
	watched.stop = stop;
	watched.arg = arg;
	mutex_unlock(&watched.lock);
	watched.main_thread = pthread_self();
	(void)sigaction(SIGUSR1, &wake, NULL);
	return start_thread(wait_for_signal, err);
}

static void *wait_for_unmount(void *arg)
{
	struct pollfd list = { .fd = watched.mounts, .events = POLLPRI };

	(void)arg;
	/* The kernel reports POLLPRI when the list has changed. */
	while (mountpoint_is_listed(watched.path))
		(void)poll(&list, 1, -1);
	mutex_lock(&watched.lock);
	if (watched.gone)
		watched.gone(watched.gone_arg);
	mutex_unlock(&watched.lock);
	return NULL;
}

int daemon_watch_mount(const char *path, void (*gone)(void *arg), void *arg, struct err *err)
{
	mutex_lock(&watched.lock);
	watched.gone = gone;
	watched.gone_arg = arg;
	mutex_unlock(&watched.lock);
	watched.path = strdup(path); /* the thread uses it until the process ends */
	watched.mounts = open("/proc/self/mounts", O_RDONLY | O_CLOEXEC);
	if (!watched.path || watched.mounts < 0)
		return err_errno(err, watched.path ? -errno : -ENOMEM,
				 "watching /proc/self/mounts");
	return start_thread(wait_for_unmount, err);
}

void daemon_ignore_signals(void)
{
	mutex_lock(&watched.lock);
	watched.stop = NULL;
	watched.gone = NULL;
	mutex_unlock(&watched.lock);
}

void daemon_allow_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= DAEMON_FILES_MAX)
		return;
	limit.rlim_cur = limit.rlim_max < DAEMON_FILES_MAX ? limit.rlim_max : DAEMON_FILES_MAX;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}
