/*
 * MCP over standard input and output of a program. The thread of pump.h does the
 * work.
 */
#include "runner/mcp/link.h"

#include "base/clock.h"
#include "runner/mcp/message.h"
#include "runner/mcp/pump.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

struct stdio {
	struct mcp_link link;
	struct mcp_pump pump;
};

static int say_lost(struct stdio *s, int r, struct err *err)
{
	CLEANUP(buf_release) struct buf words = { 0 };

	mcp_pump_say(&s->pump, &words);
	if (!buf_cstr(&words))
		return err_nomem(err);
	return mcp_fail(s->link.params, err, r, "%s", words.data);
}

static int say_failure(struct stdio *s, const struct mcp_request *rq, int r, struct err *err)
{
	const struct mcp_params *params = s->link.params;

	switch (r) {
	case -EPIPE:
	case -ESTALE:
		return say_lost(s, r, err);
	case -ECANCELED:
		return err_set(err, r, "cancelled");
	case -ENOMEM:
		return err_nomem(err);
	case -ETIMEDOUT:
		return mcp_fail(params, err, r, "did not answer %s in %g seconds", rq->method,
				rq->timeout_ms / 1000.0);
	case -EFBIG:
		return mcp_fail(params, err, r, "answered %s with more than %u bytes", rq->method,
				MCP_MESSAGE_MAX);
	case -EBUSY:
		return mcp_fail(params, err, r, "does not read what it is sent");
	default:
		return mcp_fail(params, err, r, "answered %s with invalid JSON", rq->method);
	}
}

/* Wait for the waiter's result. 0; -ECANCELED; -ETIMEDOUT. */
static int await_answer(struct stdio *s, struct mcp_waiter *w, struct cancel *cancel)
{
	struct pollfd polls[] = { { .fd = w->done.fd, .events = POLLIN },
				  { .fd = cancel->fd, .events = POLLIN } };

	for (;;) {
		int left = mcp_pump_left(&s->pump, w);

		if (cancel_fired(&w->done))
			return 0;
		if (cancel_fired(cancel))
			return -ECANCELED;
		if (!left)
			return -ETIMEDOUT;
		(void)poll(polls, ARRAY_SIZE(polls),
			   left); /* the loop checks both, even after an error */
	}
}

static void tell_cancelled(struct stdio *s, uint64_t id, int r)
{
	CLEANUP(buf_release) struct buf text = { 0 };

	mcp_write_cancelled(&text, id, r == -ETIMEDOUT ? "timed out" : "cancelled");
	/* A program that has ended need not know. */
	if (buf_check(&text, NULL) == 0)
		(void)mcp_pump_send(&s->pump, buf_span(&text), NULL);
}

static int ask_pump(struct stdio *s, struct mcp_request *rq, struct mcp_waiter *w,
		    struct cancel *cancel)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	int r;

	if (cancel_fired(cancel))
		return -ECANCELED;
	mcp_write_request(&text, &s->link, rq, w->id);
	r = buf_check(&text, NULL);
	if (r == 0)
		r = mcp_pump_send(&s->pump, buf_span(&text), w);
	if (r < 0)
		return r == -EPIPE ? -ESTALE : r; /* the program did not see the request */
	r = await_answer(s, w, cancel);
	if (mcp_pump_leave(&s->pump, w))
		return w->failure;
	if (!rq->must_end)
		tell_cancelled(s, w->id, r);
	return r;
}

static void waiter_release(struct mcp_waiter *w)
{
	cancel_release(&w->done);
	buf_release(&w->answer);
}

static int stdio_ask(struct mcp_link *link, struct mcp_request *rq, struct cancel *cancel,
		     struct err *err)
{
	struct stdio *s = CONTAINER_OF(link, struct stdio, link);
	CLEANUP(mcp_message_release) struct mcp_message m = { 0 };
	CLEANUP(waiter_release) struct mcp_waiter w = { .done = { .fd = -1 } };
	uint64_t now = clock_monotonic();
	int r = cancel_init(&w.done, err);

	if (r < 0)
		return r;
	w.id = atomic_fetch_add(&link->ids, 1) + 1;
	w.patience = rq->timeout_ms * (uint64_t)NSEC_PER_MSEC;
	w.last = mcp_request_last(rq, now);
	w.deadline = MIN(now + w.patience, w.last);
	r = ask_pump(s, rq, &w, cancel);
	if (r == 0)
		r = mcp_message_read(buf_span(&w.answer), &m);
	if (r < 0)
		return say_failure(s, rq, r, err);
	return mcp_message_take(link, &m, rq, err);
}

static int stdio_send(struct mcp_link *link, struct span message, struct cancel *cancel UNUSED,
		      struct err *err)
{
	struct stdio *s = CONTAINER_OF(link, struct stdio, link);
	struct mcp_request rq = { .method = "a message" };
	int r = mcp_pump_send(&s->pump, message, NULL);

	return r < 0 ? say_failure(s, &rq, r, err) : 0;
}

/* Life */

static bool stdio_is_over(struct mcp_link *link)
{
	return mcp_pump_is_over(&CONTAINER_OF(link, struct stdio, link)->pump);
}

static bool stdio_has_ended(struct mcp_link *link)
{
	return mcp_pump_has_ended(&CONTAINER_OF(link, struct stdio, link)->pump);
}

static void stdio_stop(struct mcp_link *link)
{
	mcp_pump_stop(&CONTAINER_OF(link, struct stdio, link)->pump);
}

static void stdio_free(struct mcp_link *link)
{
	struct stdio *s = CONTAINER_OF(link, struct stdio, link);

	mcp_pump_release(&s->pump);
	free(s);
}

static int stdio_open(const struct mcp_params *params, const struct mcp_home *home,
		      struct mcp_link **out, struct err *err)
{
	struct stdio *s = calloc(1, sizeof *s);
	int r;

	if (!s)
		return err_nomem(err);
	mcp_link_init(&s->link, &mcp_stdio, params);
	r = mcp_pump_start(&s->pump, &s->link, home, err);
	if (r < 0) {
		free(s);
		return r;
	}
	*out = &s->link;
	return 0;
}

const struct mcp_transport mcp_stdio = {
	.open = stdio_open,
	.ask = stdio_ask,
	.send = stdio_send,
	.is_over = stdio_is_over,
	.has_ended = stdio_has_ended,
	.stop = stdio_stop,
	.free = stdio_free,
	.silence_is_legacy = true,
	.has_pushes = true,
};
