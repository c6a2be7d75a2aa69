/*
 * Pumps: see pump.h.
 */
#include "runner/mcp/pump.h"

#include "base/clock.h"
#include "runner/mcp/message.h"
#include "runner/mcp/program.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNSENT_MAX  (4 * MCP_MESSAGE_MAX) /* bytes that the program has not read yet */
#define OVERLONG    4096                  /* bytes kept of each end of a line that is too long */
#define FDS_AND_OUR (FDS + 1)             /* the wake descriptor is the last */

static void wake_pump(struct mcp_pump *s)
{
	(void)eventfd_write(s->wake, 1); /* if it is full, the thread is awake anyway */
}

/* The end of the time that a program has to end by itself, or after a TERM. */
static uint64_t grace_over(const struct mcp_pump *s)
{
	return clock_monotonic() + s->link->params->grace_ms * (uint64_t)NSEC_PER_MSEC;
}

/* Waiters */

static struct mcp_waiter **find_locked(struct mcp_pump *s, uint64_t id) REQUIRES(s->lock)
{
	struct mcp_waiter **at = &s->waiters;

	while (*at && (*at)->id != id)
		at = &(*at)->next;
	return at;
}

/* Give a waiter the answer, or the reason why there is none. A waiter that left is not found. */
static void settle_waiter(struct mcp_pump *s, uint64_t id, struct span answer, int failure)
{
	struct mcp_waiter **at;
	struct mcp_waiter *w;

	mutex_lock(&s->lock);
	at = find_locked(s, id);
	w = *at;
	if (w) {
		*at = w->next;
		buf_span_add(&w->answer, answer);
		w->failure = w->answer.failed ? -ENOMEM : failure;
		cancel_fire(&w->done);
	}
	mutex_unlock(&s->lock);
}

static void settle_all_locked(struct mcp_pump *s, int failure) REQUIRES(s->lock)
{
	while (s->waiters) {
		struct mcp_waiter *w = s->waiters;

		s->waiters = w->next;
		w->failure = failure;
		cancel_fire(&w->done);
	}
}

static void move_deadline(struct mcp_pump *s, uint64_t id)
{
	struct mcp_waiter *w;

	mutex_lock(&s->lock);
	w = *find_locked(s, id);
	if (w)
		w->deadline = MIN(clock_monotonic() + w->patience, w->last);
	mutex_unlock(&s->lock);
}

/* Queue a line. -EBUSY: the program does not read; -EPIPE: it has ended. */
static int queue_locked(struct mcp_pump *s, struct span message) REQUIRES(s->lock)
{
	if (s->stopping)
		return -EPIPE;
	if (s->unsent.len + message.len > UNSENT_MAX)
		return -EBUSY;
	if (!buf_reserve(&s->unsent, message.len + 1))
		return -ENOMEM;
	buf_span_add(&s->unsent, message);
	buf_char(&s->unsent, '\n');
	return 0;
}

int mcp_pump_send(struct mcp_pump *s, struct span message, struct mcp_waiter *w)
{
	int r;

	mutex_lock(&s->lock);
	r = queue_locked(s, message);
	if (r == 0 && w) {
		w->next = s->waiters;
		s->waiters = w;
	}
	mutex_unlock(&s->lock);
	wake_pump(s);
	return r;
}

int mcp_pump_left(struct mcp_pump *s, struct mcp_waiter *w)
{
	uint64_t now = clock_monotonic();
	uint64_t deadline;

	mutex_lock(&s->lock);
	deadline = w->deadline;
	mutex_unlock(&s->lock);
	return now >= deadline ? 0 : (int)((deadline - now) / NSEC_PER_MSEC + 1);
}

bool mcp_pump_leave(struct mcp_pump *s, struct mcp_waiter *w)
{
	struct mcp_waiter **at;

	mutex_lock(&s->lock);
	at = find_locked(s, w->id);
	if (*at)
		*at = w->next;
	mutex_unlock(&s->lock);
	return cancel_fired(&w->done);
}

/* The pump: messages */

/* Ask the program to end. Waiters get `failure` at once, or without one the exit status later. */
static void end_program(struct mcp_pump *s, int failure)
{
	if (s->phase != MCP_SERVING)
		return;
	s->phase = MCP_CLOSED;
	s->deadline = grace_over(s);
	child_close(&s->child, FD_IN);
	mutex_lock(&s->lock);
	s->stopping = true;
	if (failure)
		settle_all_locked(s, failure);
	mutex_unlock(&s->lock);
}

static void reply_to_server(struct mcp_pump *s, const struct mcp_message *m)
{
	CLEANUP(buf_release) struct buf text = { 0 };

	if (atomic_load(&s->link->era) == MCP_MODERN)
		return; /* servers of that era make no requests */
	mcp_write_reply(&text, m);
	/* A server that does not read its answers gets none. */
	if (buf_check(&text, NULL) == 0)
		(void)mcp_pump_send(s, buf_span(&text), NULL);
}

static void handle_message(struct mcp_pump *s, const struct mcp_message *m, struct span line)
{
	uint64_t progress = mcp_message_progress(m);

	if (m->kind == MCP_ANSWER)
		settle_waiter(s, mcp_message_id(m->id), line, 0);
	else if (m->kind == MCP_ASKS)
		reply_to_server(s, m);
	else if (progress)
		move_deadline(s, progress);
	else
		mcp_message_note(s->link, m);
}

/* Handle a line that is no valid message: mend it, or guess the waiter whose answer it is. */
static void handle_broken(struct mcp_pump *s, struct span line)
{
	CLEANUP(mcp_message_release) struct mcp_message m = { 0 };
	CLEANUP(buf_release) struct buf mended = { 0 };
	int r = mcp_message_mend(line, &mended);

	if (r == 0)
		r = mcp_message_read(buf_span(&mended), &m);
	if (r == 0)
		handle_message(s, &m, buf_span(&mended));
	else
		settle_waiter(s, mcp_message_guess(line), SPAN(""), r == -ENOMEM ? r : -EPROTO);
}

/* Handle a line. Programs print other lines, too: a line that looks like no message is skipped. */
static void handle_line(struct mcp_pump *s, struct span line)
{
	static const struct span sign = SPAN("\"jsonrpc\"");
	CLEANUP(mcp_message_release) struct mcp_message m = { 0 };

	if (!memmem(line.data, line.len, sign.data, sign.len))
		return;
	if (mcp_message_read(line, &m) == 0)
		handle_message(s, &m, line);
	else
		handle_broken(s, line);
}

/* The end of a line that is too long. */
static void handle_overlong(struct mcp_pump *s, struct span end)
{
	uint64_t id = mcp_message_guess(buf_span(&s->in_head));

	if (!id)
		id = mcp_message_guess(end);
	if (id)
		settle_waiter(s, id, SPAN(""), -EFBIG);
	else
		end_program(s, -EFBIG);
	buf_clear(&s->in_head);
}

/* `in` has no whole line. Keep only both ends of a line that is too long. */
static void limit_line(struct mcp_pump *s)
{
	if (!s->in_head.len && s->in.len > MCP_MESSAGE_MAX)
		buf_add(&s->in_head, s->in.data, OVERLONG);
	if (s->in_head.len && s->in.len > OVERLONG)
		buf_consume(&s->in, s->in.len - OVERLONG);
}

/* Take the whole lines out of `in`. The first `seen` bytes hold no end of a line. */
static void take_lines(struct mcp_pump *s, size_t seen)
{
	size_t from = 0;
	char *lf;

	while ((lf = memchr(s->in.data + seen, '\n', s->in.len - seen))) {
		size_t at = (size_t)(lf - s->in.data);
		struct span line = span_sub(buf_span(&s->in), from, at);

		if (s->in_head.len || line.len > MCP_MESSAGE_MAX)
			handle_overlong(s, line);
		else
			handle_line(s, line);
		from = at + 1;
		seen = from;
	}
	buf_consume(&s->in, from);
	limit_line(s);
}

/* The pump: pipes */

static int take_output(struct mcp_pump *s)
{
	size_t seen = s->in.len;
	int r = child_read(&s->child, FD_OUT, &s->in);

	if (r > 0)
		take_lines(s, seen);
	else if (r < 0)
		end_program(s, 0);
	return r;
}

static int take_stderr(struct mcp_pump *s)
{
	struct buf *kept = &s->stderr_text;
	int r = child_read(&s->child, FD_ERR, kept);

	if (kept->len > 2 * PROCESS_STDERR_MAX)
		buf_consume(kept, kept->len - PROCESS_STDERR_MAX);
	return r;
}

static void feed_program(struct mcp_pump *s)
{
	struct span rest = span_sub(buf_span(&s->sending), s->sent, s->sending.len);
	ssize_t n = write(s->child.fds[FD_IN], rest.data, rest.len);

	if (n > 0)
		s->sent += (size_t)n;
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		end_program(s, 0); /* the program is ending anyway, or does not listen */
	if (s->sent == s->sending.len) {
		buf_clear(&s->sending);
		s->sent = 0;
	}
}

/* The pump: the program's life */

static void end_phase(struct mcp_pump *s)
{
	s->deadline = grace_over(s);
	if (s->phase == MCP_CLOSED && child_term(&s->child)) {
		s->phase = MCP_ENDING;
		return;
	}
	child_kill(&s->child);
	s->phase = MCP_KILLED;
}

/* Milliseconds until the phase is over; -1: never. */
static int time_left(const struct mcp_pump *s)
{
	uint64_t now = clock_monotonic();

	if (s->phase == MCP_SERVING || s->phase == MCP_KILLED)
		return -1;
	return now >= s->deadline ? 0 : (int)((s->deadline - now) / NSEC_PER_MSEC + 1);
}

/* Take over the lines that other threads queued, and their wish to stop. */
static void look_around(struct mcp_pump *s)
{
	bool stopping;

	mutex_lock(&s->lock);
	if (!s->sending.len) {
		struct buf empty = s->sending;

		s->sending = s->unsent;
		s->unsent = empty;
	}
	stopping = s->stopping;
	mutex_unlock(&s->lock);
	if (stopping)
		end_program(s, 0);
}

static void wait_for_news(struct mcp_pump *s, struct pollfd *polls)
{
	size_t i;

	for (i = 0; i < FDS; i++)
		polls[i] = (struct pollfd){ .fd = s->child.fds[i], .events = POLLIN };
	polls[FD_IN].events = POLLOUT;
	if (!s->sending.len)
		polls[FD_IN].fd = -1;
	polls[FDS] = (struct pollfd){ .fd = s->wake, .events = POLLIN };
	if (poll(polls, FDS_AND_OUR, time_left(s)) < 0) {
		for (i = 0; i < FDS_AND_OUR; i++)
			polls[i].revents = 0; /* EINTR, or short of memory for a moment */
	}
}

/* Do one round of the loop. False: the program has ended. */
static bool serve_round(struct mcp_pump *s)
{
	struct pollfd polls[FDS_AND_OUR];
	eventfd_t count;

	look_around(s);
	wait_for_news(s, polls);
	if (polls[FDS].revents)
		(void)eventfd_read(s->wake, &count);
	if (polls[FD_IN].revents)
		feed_program(s);
	if (polls[FD_OUT].revents)
		(void)take_output(s);
	if (polls[FD_ERR].revents)
		(void)take_stderr(s);
	if (polls[FD_PID].revents)
		return false;
	if (time_left(s) == 0)
		end_phase(s);
	return true;
}

/* Read what is left in the pipes when the program has ended. */
static void drain_pipes(struct mcp_pump *s)
{
	uint64_t end = clock_monotonic() + PROCESS_DRAIN_MS * (uint64_t)NSEC_PER_MSEC;

	while (s->child.fds[FD_OUT] >= 0 && take_output(s) > 0 && clock_monotonic() < end)
		;
	while (s->child.fds[FD_ERR] >= 0 && take_stderr(s) > 0 && clock_monotonic() < end)
		;
}

static void finish_program(struct mcp_pump *s)
{
	int status = 0;
	int r;

	child_kill(&s->child);
	drain_pipes(s);
	r = child_reap(&s->child, buf_span(&s->stderr_text), &status);

	mutex_lock(&s->lock);
	mcp_program_say(&s->last_words, r, status, buf_span(&s->stderr_text));
	s->stopping = true;
	s->ended = true;
	settle_all_locked(s, -EPIPE);
	cond_wake_all(&s->news);
	mutex_unlock(&s->lock);
}

static int start_program(struct mcp_pump *s)
{
	struct err reason = { 0 };
	int r = mcp_program_start(s->link->params, s->home, &s->child, &reason);

	mutex_lock(&s->lock);
	s->is_up = true;
	s->start_failure = r;
	s->start_reason = reason;
	cond_wake_all(&s->news);
	mutex_unlock(&s->lock);
	return r;
}

static void *pump_thread(void *arg)
{
	struct mcp_pump *s = arg;

	if (start_program(s) < 0)
		return NULL;
	while (serve_round(s))
		;
	finish_program(s);
	return NULL;
}

/* Life */

void mcp_pump_say(struct mcp_pump *s, struct buf *out)
{
	uint64_t until = clock_monotonic() + PROCESS_DRAIN_MS * (uint64_t)NSEC_PER_MSEC;

	mutex_lock(&s->lock);
	while (!s->ended && cond_wait_until(&s->news, &s->lock, until))
		;
	if (s->ended)
		buf_span_add(out, buf_span(&s->last_words));
	else
		buf_text(out, "is being stopped");
	mutex_unlock(&s->lock);
}

bool mcp_pump_is_over(struct mcp_pump *s)
{
	bool is_over;

	mutex_lock(&s->lock);
	is_over = s->stopping;
	mutex_unlock(&s->lock);
	return is_over;
}

bool mcp_pump_has_ended(struct mcp_pump *s)
{
	bool has_ended;

	mutex_lock(&s->lock);
	has_ended = s->ended;
	mutex_unlock(&s->lock);
	return has_ended;
}

void mcp_pump_stop(struct mcp_pump *s)
{
	mutex_lock(&s->lock);
	s->stopping = true;
	mutex_unlock(&s->lock);
	wake_pump(s);
}

static void pump_free(struct mcp_pump *s)
{
	if (s->wake >= 0)
		(void)close(s->wake);
	cond_release(&s->news);
	mutex_release(&s->lock);
	buf_release(&s->unsent);
	buf_release(&s->last_words);
	buf_release(&s->sending);
	buf_release(&s->in);
	buf_release(&s->in_head);
	buf_release(&s->stderr_text);
}

void mcp_pump_release(struct mcp_pump *s)
{
	mcp_pump_stop(s);
	(void)pthread_join(s->thread, NULL);
	pump_free(s);
}

/* The thread has no use for signals of the daemon. */
static int start_thread(struct mcp_pump *s)
{
	sigset_t all;
	sigset_t before;
	int r;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&s->thread, NULL, pump_thread, s);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -r;
}

/* Wait until the thread has started the program, or failed to. */
static int await_program(struct mcp_pump *s, struct err *err)
{
	int r;

	mutex_lock(&s->lock);
	while (!s->is_up)
		cond_wait(&s->news, &s->lock);
	r = s->start_failure;
	if (r < 0 && err)
		*err = s->start_reason;
	mutex_unlock(&s->lock);
	if (r < 0)
		(void)pthread_join(s->thread, NULL);
	return r;
}

static int start_pump(struct mcp_pump *s, struct err *err)
{
	int r;

	if (s->wake < 0)
		return err_errno(err, -errno, "eventfd");
	r = start_thread(s);
	if (r < 0)
		return err_errno(err, r, "a thread for an MCP server");
	return await_program(s, err);
}

int mcp_pump_start(struct mcp_pump *s, struct mcp_link *link, const struct mcp_home *home,
		   struct err *err)
{
	int r;

	*s = (struct mcp_pump){ .link = link, .home = home, .child = CHILD_NONE };
	mutex_init(&s->lock);
	cond_init(&s->news);
	s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = start_pump(s, err);
	if (r < 0)
		pump_free(s);
	return r;
}
