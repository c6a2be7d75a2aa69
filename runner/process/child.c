/*
 * Children: see child.h.
 *
 * A child that has ended stays a zombie until its group has been killed. So the
 * number of the group cannot belong to other processes by then.
 */
#include "runner/process/child.h"

#include "runner/process/sandbox.h"
#include "runner/process/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIECE_MAX  65536
#define NEWS_PIECE 4096

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

void child_close(struct child *c, int which)
{
	close_fd(&c->fds[which]);
}

int child_read(struct child *c, int which, struct buf *into)
{
	ssize_t n;

	if (!buf_reserve(into, PIECE_MAX))
		return -ENOMEM;
	n = read(c->fds[which], into->data + into->len, PIECE_MAX);
	if (n > 0) {
		into->len += (size_t)n;
		return 1;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	child_close(c, which);
	return -EPIPE;
}

static void child_release(struct child *c)
{
	size_t i;

	for (i = 0; i < FDS; i++)
		close_fd(&c->fds[i]);
	close_fd(&c->news_fd);
	buf_release(&c->news);
}

/* Starting */

/* The child's ends of the pipes. */
struct ends {
	int fds[SPAWN_FDS];
};

static void ends_release(struct ends *ends)
{
	size_t i;

	for (i = 0; i < SPAWN_FDS; i++)
		close_fd(&ends->fds[i]);
}

static int set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ? -errno : 0;
}

/* Make a pipe. We keep its reading end, or with ours == 1 its writing end. */
static int make_pipe(int ours, int *our_end, int *their_end)
{
	int pair[2];

	if (pipe2(pair, O_CLOEXEC) < 0)
		return -errno;
	*our_end = pair[ours];
	*their_end = pair[!ours];
	return set_nonblocking(*our_end);
}

/* Make a pipe that holds the whole filter of system calls, which bwrap reads to its end. */
static int make_filter(int *their_end)
{
	int our_end = -1;
	int r = make_pipe(1, &our_end, their_end);

	if (r == 0)
		r = sandbox_write_filter(our_end);
	close_fd(&our_end);
	return r;
}

static int make_pipes(struct child *c, const struct process *p, struct ends *ends)
{
	int r = make_pipe(1, &c->fds[FD_IN], &ends->fds[SPAWN_IN]);

	if (r == 0)
		r = make_pipe(0, &c->fds[FD_OUT], &ends->fds[SPAWN_OUT]);
	if (r == 0)
		r = make_pipe(0, &c->fds[FD_ERR], &ends->fds[SPAWN_ERR]);
	if (r == 0 && sandbox_is_on(p->sandbox))
		r = make_pipe(0, &c->news_fd, &ends->fds[SPAWN_NEWS]);
	if (r == 0 && sandbox_has_filter(p))
		r = make_filter(&ends->fds[SPAWN_FILTER]);
	return r;
}

static int start_alone(struct child *c, const struct process *p, struct spawn *s)
{
	char *alone[] = { (char *)p->program, NULL }; /* execve does not change it */

	s->program = p->program;
	s->argv = p->argv ? p->argv : alone;
	s->folder = p->folder;
	return spawn_start(s, &c->pid);
}

/* bwrap enters the folder by itself, inside the sandbox. */
static int start_in_sandbox(struct child *c, const struct process *p, struct spawn *s)
{
	char **argv;
	int r = sandbox_command(p, &argv);

	if (r < 0)
		return r;
	s->program = argv[0];
	s->argv = argv;
	s->folder = "/";
	s->stays = true;
	s->may_gain = true; /* bwrap may need privileges, and takes them from the program */
	r = spawn_start(s, &c->pid);
	free(argv);
	return r;
}

static int start_child(struct child *c, const struct process *p)
{
	CLEANUP(ends_release) struct ends ends = { { -1, -1, -1, -1, -1 } };
	bool is_inside = sandbox_is_on(p->sandbox);
	struct spawn s = { .env = p->env };
	int status;
	int r = make_pipes(c, p, &ends);

	memcpy(s.fds, ends.fds, sizeof s.fds);
	if (r == 0)
		r = is_inside ? start_in_sandbox(c, p, &s) : start_alone(c, p, &s);
	if (r < 0)
		return r;
	c->fds[FD_PID] = (int)syscall(SYS_pidfd_open, c->pid, 0);
	if (c->fds[FD_PID] >= 0)
		return 0;
	r = -errno;
	(void)!child_reap(c, (struct span){ 0 }, &status); /* its end could not be watched */
	return r;
}

int child_open(struct child *c, const struct process *p)
{
	int r = start_child(c, p);

	if (r < 0)
		child_release(c);
	return r;
}

/* Ending */

/* Read what bwrap has written by now. Returns all of it: a few lines. */
static struct span take_news(struct child *c)
{
	ssize_t n = 1;

	while (n > 0 && buf_reserve(&c->news, NEWS_PIECE)) {
		n = read(c->news_fd, c->news.data + c->news.len, NEWS_PIECE);
		if (n > 0)
			c->news.len += (size_t)n;
	}
	return buf_span(&c->news);
}

/* Whether bwrap's own process inside has started the program. */
static bool has_program(pid_t inside)
{
	char path[64];
	char number;
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof path, "/proc/%d/task/%d/children", inside, inside);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT; /* a kernel without this file, or the process has ended */
	n = read(fd, &number, 1);
	(void)close(fd);
	return n == 1;
}

bool child_term(struct child *c)
{
	pid_t group = c->pid;

	if (c->news_fd >= 0)
		group = sandbox_group(take_news(c));
	/* bwrap's own process in that group ignores a TERM. */
	if (group > 0 && (c->news_fd < 0 || has_program(group)) && kill(-group, SIGTERM) == 0)
		return true;
	child_kill(c);
	return false;
}

void child_kill(struct child *c)
{
	(void)kill(-c->pid, SIGKILL);
}

/*
 * After bwrap was killed: kill its child inside, too. bwrap may not have asked the kernel yet to
 * end the child with it; then the child is in bwrap's group, which had a KILL, or in its own.
 */
static void kill_inside(struct child *c)
{
	pid_t inside = sandbox_group(take_news(c));

	if (inside <= 0)
		return;
	(void)kill(-inside, SIGKILL);
	(void)kill(inside, SIGKILL);
}

int child_reap(struct child *c, struct span said, int *status)
{
	int r = 0;

	child_kill(c);
	while (waitpid(c->pid, status, 0) < 0 && errno == EINTR)
		;
	if (c->news_fd >= 0 && WIFSIGNALED(*status))
		kill_inside(c);
	else if (c->news_fd >= 0)
		r = sandbox_status(take_news(c), said, status);
	child_release(c);
	return r;
}
