/*
 * Processes: see process.h.
 *
 * One loop of poll(2) in the calling thread serves all children of a call. The loop
 * watches three pipes and a pidfd for each child, and the cancel descriptor.
 *
 * The daemon keeps descriptors 0 to 2 open, and all others close on exec.
 */
#include "runner/process/process.h"

#include "base/clock.h"
#include "runner/process/child.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

enum phase {
	PHASE_WAITING,  /* not started yet */
	PHASE_RUNNING,  /* until its time limit */
	PHASE_ENDING,   /* had its TERM; until the grace is over */
	PHASE_KILLED,   /* had its KILL; no limit */
	PHASE_DRAINING, /* has ended; until its pipes close */
	PHASE_DONE,
};

struct member {
	struct process *p;
	enum phase phase;
	struct child child;
	struct buf line;    /* for on_line: output that was not handed over yet */
	size_t line_looked; /* so many bytes of `line` hold no newline */
	size_t fed;
	uint64_t started;
	uint64_t deadline; /* of the phase, monotonic */

	const struct pollfd *polls; /* FDS of them, while the child runs */
};

struct crew {
	struct member *members;
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

static void member_start(struct member *m)
{
	unsigned limit = m->p->timeout_ms ? m->p->timeout_ms : PROCESS_TIMEOUT_MS;
	int r;

	m->started = clock_monotonic();
	r = child_open(&m->child, m->p);
	if (r < 0) {
		m->p->failure = r;
		m->phase = PHASE_DONE;
		return;
	}
	if (!m->p->input.len)
		child_close(&m->child, FD_IN);
	m->phase = PHASE_RUNNING;
	m->deadline = m->started + (uint64_t)limit * NSEC_PER_MSEC;
}

/* Ending */

static void enter_phase(struct member *m, enum phase phase, unsigned limit_ms)
{
	m->phase = phase;
	m->deadline = clock_monotonic() + (uint64_t)limit_ms * NSEC_PER_MSEC;
}

/* Ask the group to end. The first reason becomes the failure. */
static void member_end(struct member *m, int reason)
{
	if (!m->p->failure)
		m->p->failure = reason;
	if (m->phase != PHASE_RUNNING)
		return;
	child_close(&m->child, FD_IN);
	enter_phase(m, PHASE_ENDING, PROCESS_GRACE_MS);
	if (!child_term(&m->child))
		m->phase = PHASE_KILLED;
}

/* Lines */

/* A failure ends the program; no line is handed over after it. */
static void give_line(struct member *m, struct span line)
{
	int r = line.len > PROCESS_LINE_MAX ? -EFBIG : m->p->on_line(m->p->arg, line);

	if (r)
		member_end(m, r);
}

/* Hand over the complete lines; an unfinished one stays. */
static void give_lines(struct member *m)
{
	struct span rest = buf_span(&m->line);
	size_t from = m->line_looked;
	const char *end;

	while (!m->p->failure && (end = memchr(rest.data + from, '\n', rest.len - from))) {
		size_t n = (size_t)(end - rest.data);

		give_line(m, span_sub(rest, 0, n));
		rest = span_sub(rest, n + 1, rest.len);
		from = 0;
	}
	if (!m->p->failure && rest.len > PROCESS_LINE_MAX)
		member_end(m, -EFBIG);
	if (m->p->failure)
		rest.len = 0;
	buf_consume(&m->line, m->line.len - rest.len);
	m->line_looked = rest.len;
}

static void give_last_line(struct member *m)
{
	m->p->is_cut = true;
	if (m->line.len && !m->p->failure)
		give_line(m, buf_span(&m->line));
	buf_clear(&m->line);
	m->line_looked = 0;
}

/* The program has ended, and its pipes are read to their ends. */
static void member_finish(struct member *m)
{
	struct buf *kept = &m->p->stderr_text;
	int r;

	give_last_line(m);
	buf_release(&m->line);
	r = child_reap(&m->child, buf_span(kept), &m->p->status);
	if (r < 0 && !m->p->failure)
		m->p->failure = r;
	if (kept->len > PROCESS_STDERR_MAX)
		buf_consume(kept, kept->len - PROCESS_STDERR_MAX);
	m->p->nsec = clock_monotonic() - m->started;
	m->phase = PHASE_DONE;
}

static void member_late(struct member *m)
{
	switch (m->phase) {
	case PHASE_RUNNING:
		member_end(m, -ETIMEDOUT);
		break;
	case PHASE_ENDING:
		child_kill(&m->child);
		m->phase = PHASE_KILLED;
		break;
	case PHASE_DRAINING:
		member_finish(m);
		break;
	default:
		break;
	}
}

/* Pipes */

static void feed_child(struct member *m)
{
	struct span rest = span_sub(m->p->input, m->fed, m->p->input.len);
	ssize_t n = write(m->child.fds[FD_IN], rest.data, rest.len);

	if (n > 0)
		m->fed += (size_t)n;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	/* EPIPE: the program does not want the rest, which is no failure. */
	if (n < 0 || m->fed == m->p->input.len)
		child_close(&m->child, FD_IN);
}

static void take_output(struct member *m)
{
	struct buf *output = m->p->on_line ? &m->line : &m->p->output;
	int r = child_read(&m->child, FD_OUT, output) == -ENOMEM ? -ENOMEM : 0;

	if (r == 0 && !m->p->on_line && output->len > PROCESS_OUTPUT_MAX)
		r = -EFBIG;
	if (r == 0 && m->p->on_line)
		give_lines(m);
	if (r == 0 && m->p->on_line && m->child.fds[FD_OUT] < 0)
		give_last_line(m);
	if (r == 0)
		return;
	child_close(&m->child, FD_OUT);
	member_end(m, r);
}

static void take_stderr(struct member *m)
{
	struct buf *kept = &m->p->stderr_text;

	if (child_read(&m->child, FD_ERR, kept) == -ENOMEM) {
		child_close(&m->child, FD_ERR);
		member_end(m, -ENOMEM);
	}
	if (kept->len > 4 * PROCESS_STDERR_MAX)
		buf_consume(kept, kept->len - PROCESS_STDERR_MAX);
}

static bool is_live(const struct member *m)
{
	return m->phase != PHASE_WAITING && m->phase != PHASE_DONE;
}

static void member_step(struct member *m, uint64_t now)
{
	const struct pollfd *polls = m->polls;

	if (m->child.fds[FD_IN] >= 0 && polls[FD_IN].revents)
		feed_child(m);
	if (m->child.fds[FD_OUT] >= 0 && polls[FD_OUT].revents)
		take_output(m);
	if (m->child.fds[FD_ERR] >= 0 && polls[FD_ERR].revents)
		take_stderr(m);
	if (m->child.fds[FD_PID] >= 0 && polls[FD_PID].revents) {
		child_close(&m->child, FD_PID);
		child_close(&m->child, FD_IN);
		enter_phase(m, PHASE_DRAINING, PROCESS_DRAIN_MS);
	}
	if (m->phase == PHASE_DRAINING && m->child.fds[FD_OUT] < 0 && m->child.fds[FD_ERR] < 0)
		member_finish(m);
	else if (m->phase != PHASE_KILLED && now >= m->deadline)
		member_late(m);
}

/* The loop */

/* Start waiting programs, up to PROCESS_AT_ONCE at a time. Returns how many run. */
static size_t start_waiting(struct crew *crew)
{
	size_t live = 0;
	size_t i;

	for (i = 0; i < crew->n; i++)
		live += is_live(&crew->members[i]);
	for (i = 0; i < crew->n && live < PROCESS_AT_ONCE; i++) {
		struct member *m = &crew->members[i];

		if (m->phase != PHASE_WAITING)
			continue;
		member_start(m);
		live += is_live(m);
	}
	return live;
}

static void cancel_all(struct crew *crew)
{
	size_t i;

	crew->cancelled = true;
	for (i = 0; i < crew->n; i++) {
		struct member *m = &crew->members[i];

		if (m->phase == PHASE_DONE)
			continue;
		member_end(m, -ECANCELED);
		if (m->phase == PHASE_WAITING)
			m->phase = PHASE_DONE;
	}
}

/* Milliseconds until the first deadline, rounded up; -1: no deadline. */
static int time_left(const struct crew *crew)
{
	uint64_t now = clock_monotonic();
	uint64_t first = UINT64_MAX;
	size_t i;

	for (i = 0; i < crew->n; i++) {
		const struct member *m = &crew->members[i];

		if (is_live(m) && m->phase != PHASE_KILLED)
			first = MIN(first, m->deadline);
	}
	if (first == UINT64_MAX)
		return -1;
	return first <= now ? 0 : (int)((first - now) / NSEC_PER_MSEC + 1);
}

/* Fill in the descriptors of a member that poll() watches; returns the place after them. */
static struct pollfd *member_watch(struct member *m, struct pollfd *at)
{
	size_t i;

	m->polls = at;
	for (i = 0; i < FDS; i++)
		*at++ = (struct pollfd){ .fd = m->child.fds[i],
					 .events = i == FD_IN ? POLLOUT : POLLIN };
	return at;
}

static int wait_for_news(struct crew *crew)
{
	struct pollfd *at = crew->polls;
	size_t i;

	*at++ = (struct pollfd){ .fd = crew->cancelled ? -1 : crew->cancel->fd, .events = POLLIN };
	for (i = 0; i < crew->n; i++) {
		if (is_live(&crew->members[i]))
			at = member_watch(&crew->members[i], at);
	}
	while (poll(crew->polls, (nfds_t)(at - crew->polls), time_left(crew)) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

static void kill_all(struct crew *crew, int reason)
{
	size_t i;

	for (i = 0; i < crew->n; i++) {
		struct member *m = &crew->members[i];

		if (!is_live(m))
			continue;
		if (!m->p->failure)
			m->p->failure = reason;
		member_finish(m);
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
			kill_all(crew, r);
			return err_errno(err, r, "poll");
		}
		now = clock_monotonic();
		for (i = 0; i < crew->n; i++) {
			if (is_live(&crew->members[i]))
				member_step(&crew->members[i], now);
		}
		if (!crew->cancelled && cancel_fired(crew->cancel))
			cancel_all(crew);
	}
	return 0;
}

static void crew_release(struct crew *crew)
{
	free(crew->members);
}

int process_run_all(struct process *list, size_t n, struct cancel *cancel, struct err *err)
{
	CLEANUP(crew_release) struct crew crew = { .n = n, .cancel = cancel };
	size_t i;
	int r;

	crew.members = calloc(n + 1, sizeof *crew.members);
	if (!crew.members)
		return err_nomem(err);
	for (i = 0; i < n; i++)
		crew.members[i] = (struct member){ .p = &list[i], .child = CHILD_NONE };
	if (cancel_fired(cancel))
		cancel_all(&crew);
	r = crew_run(&crew, err);
	if (r < 0)
		return r;
	return cancel_fired(cancel) ? err_set(err, -ECANCELED, "cancelled") : 0;
}

void process_quote_stderr(struct buf *out, struct span stderr_text, size_t max)
{
	struct span text = span_trim_end(stderr_text);
	size_t from;

	for (from = text.len; from && text.data[from - 1] != '\n'; from--)
		;
	if (text.len)
		buf_printf(out, ": %.*s", (int)MIN(text.len - from, max), text.data + from);
}
