/*
 * Processes: see process.h.
 *
 * One loop of poll(2) in the calling thread serves all children of a call:
 * their three pipes, a pidfd that tells of their end, and the cancel
 * descriptor. A child that has ended stays a zombie until its group has been
 * killed, so that the number of the group cannot mean anybody else by then.
 *
 * The daemon keeps descriptors 0 to 2 open, and all others close on exec.
 */
#include "runner/process.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIECE_MAX 65536

enum phase {
	PHASE_WAITING,  /* not started yet */
	PHASE_RUNNING,  /* until its time limit */
	PHASE_ENDING,   /* had its TERM; until the grace is over */
	PHASE_KILLED,   /* had its KILL; no limit */
	PHASE_DRAINING, /* has ended; until its pipes close */
	PHASE_DONE,
};

struct child {
	struct process *p;
	enum phase phase;
	pid_t pid; /* also of the group */
	int fds[FDS];
	size_t fed;
	uint64_t started;
	uint64_t deadline; /* of the phase, monotonic */

	const struct pollfd *polls; /* FDS of them, while it is running */
};

struct crew {
	struct child *children;
	struct pollfd polls[1 + PROCESS_AT_ONCE * FDS]; /* the cancel descriptor is first */
	size_t n;
	struct cancel *cancel;
	bool cancelled;
};

void process_release(struct process *p)
{
	buf_release(&p->output);
	buf_release(&p->stderr_text);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

static void close_all(int *fds)
{
	size_t i;

	for (i = 0; i < FDS; i++)
		close_fd(&fds[i]);
}

/* Starting */

/* The child's ends of its three pipes, by descriptor. */
struct ends {
	int fds[3];
};

static void ends_release(struct ends *ends)
{
	size_t i;

	for (i = 0; i < 3; i++)
		close_fd(&ends->fds[i]);
}

static int set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ? -errno : 0;
}

static int make_pipes(int *fds, struct ends *ends)
{
	int i;

	for (i = 0; i < 3; i++) {
		int pair[2];
		int ours = i == FD_IN ? 1 : 0;

		if (pipe2(pair, O_CLOEXEC) < 0)
			return -errno;
		fds[i] = pair[ours];
		ends->fds[i] = pair[!ours];
		if (set_nonblocking(fds[i]) < 0)
			return -errno;
	}
	return 0;
}

static int set_actions(posix_spawn_file_actions_t *actions, const struct process *p,
		       const struct ends *ends)
{
	int r = 0;
	int i;

	for (i = 0; i < 3 && r == 0; i++)
		r = posix_spawn_file_actions_adddup2(actions, ends->fds[i], i);
	if (r == 0)
		r = posix_spawn_file_actions_addclosefrom_np(actions, 3);
	if (r == 0)
		r = posix_spawn_file_actions_addchdir_np(actions, p->folder);
	return r;
}

static int set_attributes(posix_spawnattr_t *attributes)
{
	short flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
	sigset_t all;
	sigset_t none;
	int r;

	(void)sigfillset(&all);
	(void)sigemptyset(&none);
	r = posix_spawnattr_setflags(attributes, flags);
	if (r == 0)
		r = posix_spawnattr_setpgroup(attributes, 0);
	if (r == 0)
		r = posix_spawnattr_setsigdefault(attributes, &all);
	if (r == 0)
		r = posix_spawnattr_setsigmask(attributes, &none);
	return r;
}

static int spawn(const struct process *p, const struct ends *ends, pid_t *pid)
{
	char *alone[] = { (char *)p->program, NULL }; /* posix_spawn does not change it */
	char *const *argv = p->argv ? p->argv : alone;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int r;

	r = posix_spawn_file_actions_init(&actions);
	if (r)
		return -r;
	r = posix_spawnattr_init(&attributes);
	if (r) {
		(void)posix_spawn_file_actions_destroy(&actions);
		return -r;
	}
	r = set_actions(&actions, p, ends);
	if (r == 0)
		r = set_attributes(&attributes);
	if (r == 0)
		r = posix_spawn(pid, p->program, &actions, &attributes, argv, p->env);
	(void)posix_spawnattr_destroy(&attributes);
	(void)posix_spawn_file_actions_destroy(&actions);
	return -r;
}

/* Whatever is left of the group, and the zombie that keeps its number. */
static void kill_group(pid_t pid, int *status)
{
	(void)kill(-pid, SIGKILL);
	while (waitpid(pid, status, 0) < 0 && errno == EINTR)
		;
}

static int start_open(const struct process *p, int *fds, pid_t *pid)
{
	CLEANUP(ends_release) struct ends ends = { { -1, -1, -1 } };
	int status;
	int r;

	r = make_pipes(fds, &ends);
	if (r == 0)
		r = spawn(p, &ends, pid);
	if (r < 0)
		return r;
	fds[FD_PID] = (int)syscall(SYS_pidfd_open, *pid, 0);
	if (fds[FD_PID] >= 0)
		return 0;
	r = -errno;
	kill_group(*pid, &status);
	return r;
}

int process_start(const struct process *p, int fds[FDS], pid_t *pid)
{
	int r = start_open(p, fds, pid);

	if (r < 0)
		close_all(fds);
	return r;
}

static void kill_and_reap(struct child *c)
{
	kill_group(c->pid, &c->p->status);
	close_all(c->fds);
}

static void child_start(struct child *c)
{
	unsigned limit = c->p->timeout_ms ? c->p->timeout_ms : PROCESS_TIMEOUT_MS;
	int r;

	c->started = clock_monotonic();
	r = process_start(c->p, c->fds, &c->pid);
	if (r < 0) {
		c->p->failure = r;
		c->phase = PHASE_DONE;
		return;
	}
	if (!c->p->input.len)
		close_fd(&c->fds[FD_IN]);
	c->phase = PHASE_RUNNING;
	c->deadline = c->started + (uint64_t)limit * NSEC_PER_MSEC;
}

/* Ending */

static void enter(struct child *c, enum phase phase, unsigned limit_ms)
{
	c->phase = phase;
	c->deadline = clock_monotonic() + (uint64_t)limit_ms * NSEC_PER_MSEC;
}

/* Ask the group to end, for a reason; the first one counts. */
static void child_end(struct child *c, int reason)
{
	if (!c->p->failure)
		c->p->failure = reason;
	if (c->phase != PHASE_RUNNING)
		return;
	(void)kill(-c->pid, SIGTERM);
	close_fd(&c->fds[FD_IN]);
	enter(c, PHASE_ENDING, PROCESS_GRACE_MS);
}

/* The program has ended and its pipes have nothing more for us. */
static void child_finish(struct child *c)
{
	struct buf *kept = &c->p->stderr_text;

	kill_and_reap(c);
	if (kept->len > PROCESS_STDERR_MAX)
		buf_consume(kept, kept->len - PROCESS_STDERR_MAX);
	c->p->nsec = clock_monotonic() - c->started;
	c->phase = PHASE_DONE;
}

static void child_late(struct child *c)
{
	switch (c->phase) {
	case PHASE_RUNNING:
		child_end(c, -ETIMEDOUT);
		break;
	case PHASE_ENDING:
		(void)kill(-c->pid, SIGKILL);
		c->phase = PHASE_KILLED;
		break;
	case PHASE_DRAINING:
		child_finish(c);
		break;
	default:
		break;
	}
}

/* Pipes */

static void feed(struct child *c)
{
	struct span rest = span_sub(c->p->input, c->fed, c->p->input.len);
	ssize_t n = write(c->fds[FD_IN], rest.data, rest.len);

	if (n > 0)
		c->fed += (size_t)n;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	/* EPIPE: it does not want the rest, which is its own business. */
	if (n < 0 || c->fed == c->p->input.len)
		close_fd(&c->fds[FD_IN]);
}

/* One piece of a pipe behind `into`. A pipe that ended is closed. */
static int take(int *fd, struct buf *into)
{
	ssize_t n;

	if (!buf_reserve(into, PIECE_MAX))
		return -ENOMEM;
	n = read(*fd, into->data + into->len, PIECE_MAX);
	if (n > 0)
		into->len += (size_t)n;
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		close_fd(fd);
	return 0;
}

static void take_output(struct child *c)
{
	struct buf *output = &c->p->output;
	int r = take(&c->fds[FD_OUT], output);

	if (r == 0 && output->len > PROCESS_OUTPUT_MAX)
		r = -EFBIG;
	if (r == 0)
		return;
	close_fd(&c->fds[FD_OUT]);
	child_end(c, r);
}

static void take_stderr(struct child *c)
{
	struct buf *kept = &c->p->stderr_text;

	if (take(&c->fds[FD_ERR], kept) < 0) {
		close_fd(&c->fds[FD_ERR]);
		child_end(c, -ENOMEM);
	}
	if (kept->len > 4 * PROCESS_STDERR_MAX)
		buf_consume(kept, kept->len - PROCESS_STDERR_MAX);
}

static bool is_live(const struct child *c)
{
	return c->phase != PHASE_WAITING && c->phase != PHASE_DONE;
}

static void child_step(struct child *c, uint64_t now)
{
	const struct pollfd *polls = c->polls;

	if (c->fds[FD_IN] >= 0 && polls[FD_IN].revents)
		feed(c);
	if (c->fds[FD_OUT] >= 0 && polls[FD_OUT].revents)
		take_output(c);
	if (c->fds[FD_ERR] >= 0 && polls[FD_ERR].revents)
		take_stderr(c);
	if (c->fds[FD_PID] >= 0 && polls[FD_PID].revents) {
		close_fd(&c->fds[FD_PID]);
		close_fd(&c->fds[FD_IN]);
		enter(c, PHASE_DRAINING, PROCESS_DRAIN_MS);
	}
	if (c->phase == PHASE_DRAINING && c->fds[FD_OUT] < 0 && c->fds[FD_ERR] < 0)
		child_finish(c);
	else if (c->phase != PHASE_KILLED && now >= c->deadline)
		child_late(c);
}

/* The loop */

/* Start as many as may run. How many are running then. */
static size_t start_waiting(struct crew *crew)
{
	size_t live = 0;
	size_t i;

	for (i = 0; i < crew->n; i++)
		live += is_live(&crew->children[i]);
	for (i = 0; i < crew->n && live < PROCESS_AT_ONCE; i++) {
		struct child *c = &crew->children[i];

		if (c->phase != PHASE_WAITING)
			continue;
		child_start(c);
		live += is_live(c);
	}
	return live;
}

static void cancel_all(struct crew *crew)
{
	size_t i;

	crew->cancelled = true;
	for (i = 0; i < crew->n; i++) {
		struct child *c = &crew->children[i];

		if (c->phase == PHASE_DONE)
			continue;
		child_end(c, -ECANCELED);
		if (c->phase == PHASE_WAITING)
			c->phase = PHASE_DONE;
	}
}

/* Milliseconds until the first deadline, rounded up; -1: there is none. */
static int time_left(const struct crew *crew)
{
	uint64_t now = clock_monotonic();
	uint64_t first = UINT64_MAX;
	size_t i;

	for (i = 0; i < crew->n; i++) {
		const struct child *c = &crew->children[i];

		if (is_live(c) && c->phase != PHASE_KILLED)
			first = MIN(first, c->deadline);
	}
	if (first == UINT64_MAX)
		return -1;
	return first <= now ? 0 : (int)((first - now) / NSEC_PER_MSEC + 1);
}

/* Its row of descriptors to poll for; returns the place behind it. */
static struct pollfd *child_watch(struct child *c, struct pollfd *at)
{
	size_t i;

	c->polls = at;
	for (i = 0; i < FDS; i++)
		*at++ = (struct pollfd){ .fd = c->fds[i], .events = i == FD_IN ? POLLOUT : POLLIN };
	return at;
}

static int wait_for_news(struct crew *crew)
{
	struct pollfd *at = crew->polls;
	size_t i;

	*at++ = (struct pollfd){ .fd = crew->cancelled ? -1 : crew->cancel->fd, .events = POLLIN };
	for (i = 0; i < crew->n; i++) {
		if (is_live(&crew->children[i]))
			at = child_watch(&crew->children[i], at);
	}
	while (poll(crew->polls, (nfds_t)(at - crew->polls), time_left(crew)) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

static void kill_all(struct crew *crew)
{
	size_t i;

	for (i = 0; i < crew->n; i++) {
		if (is_live(&crew->children[i]))
			child_finish(&crew->children[i]);
	}
}

static int crew_run(struct crew *crew, struct err *err)
{
	size_t i;
	int r;

	while (start_waiting(crew)) {
		uint64_t now;

		r = wait_for_news(crew);
		if (r < 0) {
			kill_all(crew);
			return err_errno(err, r, "poll");
		}
		now = clock_monotonic();
		for (i = 0; i < crew->n; i++) {
			if (is_live(&crew->children[i]))
				child_step(&crew->children[i], now);
		}
		if (!crew->cancelled && cancel_fired(crew->cancel))
			cancel_all(crew);
	}
	return 0;
}

static void crew_release(struct crew *crew)
{
	free(crew->children);
}

int process_run_all(struct process *list, size_t n, struct cancel *cancel, struct err *err)
{
	CLEANUP(crew_release) struct crew crew = { .n = n, .cancel = cancel };
	size_t i;
	int r;

	crew.children = calloc(n + 1, sizeof *crew.children);
	if (!crew.children)
		return err_nomem(err);
	for (i = 0; i < n; i++)
		crew.children[i] = (struct child){ .p = &list[i], .fds = { -1, -1, -1, -1 } };
	if (cancel_fired(cancel))
		cancel_all(&crew);
	r = crew_run(&crew, err);
	if (r < 0)
		return r;
	return cancel_fired(cancel) ? err_set(err, -ECANCELED, "cancelled") : 0;
}
