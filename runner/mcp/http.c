/*
 * MCP over Streamable HTTP: one POST for each message. The answer of HTTP is the
 * message that we wait for, or a stream of server-sent events that ends with it.
 *
 * In the legacy era the server may give a session id, send requests and
 * notifications in a stream, and end a stream early; then a GET that names the
 * last event fetches the rest. In the modern era none of that exists.
 */
#include "runner/mcp/listen.h"

#include "base/clock.h"
#include "base/net/stream.h"
#include "runner/mcp/headers.h"
#include "runner/mcp/message.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#define TOLD_MS     500 /* time to send a server the news that a call is cancelled */
#define GOODBYE_MS  1000
#define RESUMES_MAX 100 /* GETs for the rest of one answer */
#define QUOTE_MAX   120 /* bytes of a body that errors quote */

/* A request with all that is sent and received for it. */
struct exchange {
	struct mcp_service *service;
	struct mcp_request *rq;
	uint64_t id;
	struct cancel *cancel;
	struct err *err;
	struct buf body;

	struct stream stream;
	bool is_open; /* the stream is initialised */
	struct http_answer answer;
	char session[MCP_SESSION_MAX]; /* the id that was sent */
	uint64_t deadline;             /* progress moves it, up to last */
	uint64_t last;
	bool is_done; /* the answer has come, and: */
	int r;
};

/* Add the headers that repeat parts of a request, in the modern era. */
static int add_repeated(const struct exchange *x, struct http_request *http)
{
	const struct mcp_request *rq = x->rq;
	int r;

	if (atomic_load(&x->service->link.era) == MCP_LEGACY)
		return 0;
	r = http_request_header(http, "Mcp-Method: %s", rq->method);
	if (r == 0 && rq->name)
		r = mcp_headers_text(http, "Mcp-Name", span_of(rq->name));
	return r < 0 ? r : mcp_headers_add(http, rq->schema, rq->args);
}

static int http_tell(struct mcp_link *link, struct span message, struct cancel *cancel,
		     struct err *err)
{
	struct mcp_service *s = CONTAINER_OF(link, struct mcp_service, link);
	struct err reason = { 0 };
	int r = mcp_service_tell(s, NULL, message, mcp_time_left(link), cancel, &reason);

	if (r < 0)
		return r == -ECANCELED ? err_set(err, r, "cancelled")
				       : mcp_fail(link->params, err, r, "%s", reason.text);
	if (r < 200 || r > 299)
		return mcp_fail(link->params, err, -EPROTO, "answered a notification with %d", r);
	return 0;
}

/* Receiving */

static int exchange_fail(struct exchange *x, int r, const char *text)
{
	return mcp_fail(x->service->link.params, x->err, r, "%s %s", text, x->rq->method);
}

/* The answer has come: the rest of the stream is not read. */
static int exchange_settle(struct exchange *x, int r)
{
	x->is_done = true;
	x->r = r;
	return 1;
}

static void move_deadline(struct exchange *x)
{
	uint64_t patience = x->rq->timeout_ms * (uint64_t)NSEC_PER_MSEC;

	x->deadline = MIN(clock_monotonic() + patience, x->last);
}

static int take_message(struct exchange *x, const struct mcp_message *m)
{
	struct mcp_link *link = &x->service->link;
	uint64_t id = mcp_message_id(m->id);

	/* An answer without an id is about our only request, but cannot be its result. */
	if (m->kind == MCP_ANSWER && (id == x->id || (!m->id.len && !m->result.len)))
		return exchange_settle(x, mcp_message_take(link, m, x->rq, x->err));
	if (m->kind == MCP_ASKS)
		mcp_service_reply(x->service, m, x->cancel); /* the server waits for our answer */
	else if (mcp_message_progress(m) == x->id)
		move_deadline(x);
	else
		mcp_message_note(link, m);
	return 0;
}

/* Take one event, or a whole body. */
static int take_event(void *arg, struct span data)
{
	struct exchange *x = arg;
	CLEANUP(mcp_message_release) struct mcp_message m = { 0 };
	CLEANUP(mcp_message_release) struct mcp_message again = { 0 };
	CLEANUP(buf_release) struct buf mended = { 0 };
	int r;

	if (data.len > MCP_MESSAGE_MAX)
		return -EMSGSIZE;
	r = mcp_message_read(data, &m);
	if (r == 0)
		return take_message(x, &m);
	if (r == -EINVAL)
		r = mcp_message_mend(data, &mended);
	if (r == 0)
		r = mcp_message_read(buf_span(&mended), &again);
	if (r == 0)
		return take_message(x, &again);
	if (r == -ENOMEM)
		return exchange_settle(x, err_nomem(x->err));
	return exchange_settle(x, mcp_fail(x->service->link.params, x->err, -EPROTO,
					   "answered %s with invalid JSON", x->rq->method));
}

static int take_piece(void *arg, struct span piece)
{
	struct exchange *x = arg;

	if (!x->is_open)
		stream_init(&x->stream,
			    mcp_service_streams(&x->answer) ? STREAM_SSE : STREAM_WHOLE);
	x->is_open = true;
	return stream_feed(&x->stream, piece, take_event, x);
}

/* Verdicts */

/* Quote the start of a body in an error. */
static void quote_body(struct span body, char *out, size_t size)
{
	int n = (int)MIN(body.len, QUOTE_MAX);

	*out = 0;
	if (n && !memchr(body.data, 0, (size_t)n))
		(void)snprintf(out, size, ": %.*s", n, body.data);
}

static int judge_status(struct exchange *x)
{
	const struct mcp_params *params = x->service->link.params;
	CLEANUP(mcp_message_release) struct mcp_message m = { 0 };
	struct span body = buf_span(&x->answer.error_body);
	int status = x->answer.status;
	char quoted[QUOTE_MAX + 8];

	if (status == 401 || status == 403)
		return mcp_fail(params, x->err, -EACCES, "refused the credentials (%d)", status);
	if (status == 404 && *x->session) {
		mcp_service_over(x->service);
		return exchange_fail(x, -ESTALE, "forgot its session at");
	}
	if (mcp_message_read(body, &m) == 0 && m.kind == MCP_ANSWER && m.error.len &&
	    *m.error.data == '{')
		return mcp_message_take(&x->service->link, &m, x->rq, x->err);
	if (status >= 300 && status <= 399)
		return mcp_fail(params, x->err, -EIO, "answered %d: adkfs follows no redirects",
				status);
	quote_body(body, quoted, sizeof quoted);
	return mcp_fail(params, x->err, status >= 500 ? -EIO : -EPROTO, "answered %s with %d%s",
			x->rq->method, status, quoted);
}

/* The connection has ended, and the answer did not come. */
static int judge_failure(struct exchange *x, int r, const struct err *reason)
{
	const struct mcp_params *params = x->service->link.params;

	switch (r) {
	case -ECANCELED:
		return err_set(x->err, r, "cancelled");
	case -ENOMEM:
		return err_nomem(x->err);
	case -EMSGSIZE:
		return mcp_fail(params, x->err, -EFBIG, "answered %s with more than %u bytes",
				x->rq->method, MCP_MESSAGE_MAX);
	case -ETIMEDOUT:
		if (clock_monotonic() >= x->deadline)
			return mcp_fail(params, x->err, r, "did not answer %s in %g seconds",
					x->rq->method, x->rq->timeout_ms / 1000.0);
		break;
	default:
		mcp_service_over(x->service);
		break;
	}
	return mcp_fail(params, x->err, r, "%s", reason->text);
}

static bool can_resume(const struct exchange *x, int r)
{
	return !x->is_done && (r == 0 || r == -ECONNRESET) && x->is_open && x->stream.id.len &&
	       atomic_load(&x->service->link.era) == MCP_LEGACY;
}

/* Judge how one connection went. 0 or -errno: done; 1: the rest has to be fetched. */
static int judge_connection(struct exchange *x, int r, const struct err *reason)
{
	int status = x->answer.status;

	x->rq->status = status;
	if (r == 0 && (status < 200 || status > 299))
		return judge_status(x);
	if (r == 0 && x->is_open)
		r = stream_end(&x->stream, take_event, x);
	if (x->is_done)
		return x->r;
	if (can_resume(x, r))
		return 1;
	if (r < 0)
		return judge_failure(x, r, reason);
	return exchange_fail(x, -EPROTO,
			     x->is_open ? "ended the stream without an answer to"
					: "sent no answer to");
}

/* Asking */

/* The answer to initialize may name a session. */
static void keep_session(struct exchange *x)
{
	struct mcp_service *s = x->service;

	if (!*x->answer.session || strcmp(x->rq->method, "initialize") != 0)
		return;
	(void)strcpy(x->session, x->answer.session);
	mutex_lock(&s->lock);
	(void)strcpy(s->session, x->answer.session);
	mutex_unlock(&s->lock);
}

/* Make one connection: the POST, or a GET for the rest of its answer. Returns as
 * judge_connection(). */
static int connect_once(struct exchange *x, const char *method)
{
	CLEANUP(http_request_release) struct http_request http = { .method = method };
	const struct mcp_params *params = x->service->link.params;
	struct http_limits limits = { mcp_service_connect_ms(params),
				      MAX(x->rq->timeout_ms, MCP_CALL_MAX_MS), params->silence_ms,
				      &x->deadline };
	struct err reason = { 0 };
	int r;

	r = mcp_service_prepare(x->service, x->session, &http);
	if (r == 0 && !method)
		r = add_repeated(x, &http);
	if (r == 0 && method)
		r = http_request_header(&http, "Last-Event-ID: %.*s", (int)x->stream.id.len,
					x->stream.id.data);
	if (r == -E2BIG)
		return exchange_fail(x, r, "needs too many headers for");
	if (r == -EINVAL)
		return exchange_fail(x, -EPROTO, "gave an id that is not valid in a header, at");
	if (r < 0)
		return err_nomem(x->err);
	if (!method) {
		http.body = x->body;
		x->body = (struct buf){ 0 };
	}
	http_answer_release(&x->answer);
	x->answer.on_body = take_piece;
	x->answer.arg = x;
	r = http_send(&http, &limits, x->cancel, &x->answer, &reason);
	keep_session(x);
	return judge_connection(x, r, &reason);
}

/* Wait as long as the server wants before a GET. 0; -ECANCELED; -ETIMEDOUT. */
static int pause_as_told(struct exchange *x)
{
	uint64_t until = clock_monotonic() + (uint64_t)x->stream.retry_ms * NSEC_PER_MSEC;
	struct pollfd poll_cancel = { .fd = x->cancel->fd, .events = POLLIN };

	for (;;) {
		uint64_t now = clock_monotonic();

		if (cancel_fired(x->cancel))
			return -ECANCELED;
		if (now >= x->deadline)
			return -ETIMEDOUT;
		if (now >= until)
			return 0;
		(void)poll(&poll_cancel, 1,
			   (int)((MIN(until, x->deadline) - now) / NSEC_PER_MSEC + 1));
	}
}

/* Prepare the stream for the rest of the events. */
static void rewind_stream(struct exchange *x)
{
	struct stream fresh;

	stream_init(&fresh, STREAM_SSE);
	fresh.id = x->stream.id;
	fresh.retry_ms = x->stream.retry_ms;
	x->stream.id = (struct buf){ 0 };
	stream_release(&x->stream);
	x->stream = fresh;
}

static int exchange_run(struct exchange *x)
{
	const struct err none = { 0 };
	int r = connect_once(x, NULL);
	int resumes;

	for (resumes = 0; r == 1 && resumes < RESUMES_MAX; resumes++) {
		r = pause_as_told(x);
		if (r < 0)
			return judge_failure(x, r, &none);
		rewind_stream(x);
		r = connect_once(x, "GET");
	}
	return r == 1 ? exchange_fail(x, -EPROTO, "never ended its answer to") : r;
}

/* Tell the server. In the modern era the closed connection has done that. */
static void tell_cancelled(const struct exchange *x, int r)
{
	CLEANUP(buf_release) struct buf text = { 0 };

	if (x->rq->must_end || atomic_load(&x->service->link.era) == MCP_MODERN)
		return;
	mcp_write_cancelled(&text, x->id, r == -ETIMEDOUT ? "timed out" : "cancelled");
	if (buf_check(&text, NULL) == 0)
		mcp_service_tell_last(x->service, NULL, buf_span(&text), TOLD_MS);
}

static void exchange_release(struct exchange *x)
{
	buf_release(&x->body);
	http_answer_release(&x->answer);
	if (x->is_open)
		stream_release(&x->stream);
}

static int http_ask(struct mcp_link *link, struct mcp_request *rq, struct cancel *cancel,
		    struct err *err)
{
	CLEANUP(exchange_release) struct exchange x = { .rq = rq, .cancel = cancel, .err = err };
	uint64_t now = clock_monotonic();
	int r;

	x.service = CONTAINER_OF(link, struct mcp_service, link);
	x.id = atomic_fetch_add(&link->ids, 1) + 1;
	x.last = mcp_request_last(rq, now);
	move_deadline(&x);
	mcp_service_session(x.service, x.session);
	mcp_write_request(&x.body, link, rq, x.id);
	if (buf_check(&x.body, err) < 0)
		return -ENOMEM;
	r = exchange_run(&x);
	if (r == -ECANCELED || r == -ETIMEDOUT)
		tell_cancelled(&x, r);
	return r;
}

/* Life */

static bool http_is_over(struct mcp_link *link)
{
	struct mcp_service *s = CONTAINER_OF(link, struct mcp_service, link);
	bool over;

	mutex_lock(&s->lock);
	over = s->over;
	mutex_unlock(&s->lock);
	return over;
}

static bool http_has_ended(struct mcp_link *link UNUSED)
{
	return true;
}

static void http_listen(struct mcp_link *link)
{
	mcp_listen(CONTAINER_OF(link, struct mcp_service, link));
}

static void http_stop(struct mcp_link *link)
{
	mcp_listen_stop(CONTAINER_OF(link, struct mcp_service, link));
}

/* End the session, unless it is over already or the entry says otherwise. */
static void http_free(struct mcp_link *link)
{
	struct mcp_service *s = CONTAINER_OF(link, struct mcp_service, link);
	char session[MCP_SESSION_MAX];

	mcp_listen_release(s);
	mcp_service_session(s, session);
	if (*session && link->params->terminate && !http_is_over(link))
		mcp_service_tell_last(s, "DELETE", SPAN(""), GOODBYE_MS);
	mutex_release(&s->lock);
	free(s);
}

static int http_open(const struct mcp_params *params, const struct mcp_home *home UNUSED,
		     struct mcp_link **out, struct err *err)
{
	struct mcp_service *s = calloc(1, sizeof *s);

	if (!s)
		return err_nomem(err);
	mcp_link_init(&s->link, &mcp_http, params);
	mutex_init(&s->lock);
	*out = &s->link;
	return 0;
}

static const char *http_check(const struct mcp_link *link, const json_t *parameters)
{
	return atomic_load(&link->era) == MCP_MODERN ? mcp_headers_check(parameters) : NULL;
}

const struct mcp_transport mcp_http = {
	.open = http_open,
	.ask = http_ask,
	.send = http_tell,
	.listen = http_listen,
	.is_over = http_is_over,
	.has_ended = http_has_ended,
	.stop = http_stop,
	.free = http_free,
	.check = http_check,
};
