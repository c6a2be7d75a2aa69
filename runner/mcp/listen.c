/*
 * Listening to a service: see listen.h.
 */
#include "runner/mcp/listen.h"

#include "base/clock.h"
#include "base/net/stream.h"
#include "runner/mcp/message.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#define AGAIN (MCP_LISTEN_AGAIN_MS * (uint64_t)NSEC_PER_MSEC)

/* A stream and the thread that reads it. */
struct mcp_listener {
	struct mcp_service *service;
	struct cancel cancel;
	pthread_t thread;

	/* for the thread alone, until is_over */
	struct stream stream;
	struct http_answer answer;
	uint64_t ended;      /* monotonic */
	atomic_bool is_over; /* set last; mcp_listen() reads it before the fields above */
};

static atomic_uint listeners;

/* Receiving */

/* Take an event. An event that cannot be read is skipped. */
static int take_event(void *arg, struct span data)
{
	struct mcp_listener *l = arg;
	CLEANUP(mcp_message_release) struct mcp_message m = { 0 };

	if (data.len > MCP_MESSAGE_MAX)
		return -EMSGSIZE;
	if (mcp_message_read(data, &m) < 0)
		return 0;
	if (m.kind == MCP_ASKS)
		mcp_service_reply(l->service, &m, &l->cancel);
	else
		mcp_message_note(&l->service->link, &m);
	return 0;
}

static int take_piece(void *arg, struct span piece)
{
	struct mcp_listener *l = arg;

	if (!mcp_service_streams(&l->answer))
		return -EPROTO;
	return stream_feed(&l->stream, piece, take_event, l);
}

/* Asking */

static int prepare_request(struct mcp_service *s, struct http_request *http)
{
	static const struct mcp_request listen = MCP_LISTEN_REQUEST;
	bool is_modern = atomic_load(&s->link.era) == MCP_MODERN;
	char session[MCP_SESSION_MAX];
	int r;

	mcp_service_session(s, session);
	http->method = is_modern ? NULL : "GET";
	r = mcp_service_prepare(s, session, http);
	if (r < 0 || !is_modern)
		return r;
	mcp_write_request(&http->body, &s->link, &listen, atomic_fetch_add(&s->link.ids, 1) + 1);
	r = http_request_header(http, "Mcp-Method: %s", listen.method);
	return r < 0 ? r : buf_check(&http->body, NULL);
}

static bool is_stream(const struct http_answer *answer)
{
	return answer->status >= 200 && answer->status <= 299 && mcp_service_streams(answer);
}

/* Read the stream to its end. Later changes would go unnoticed, so the list counts as changed. */
static void read_stream(struct mcp_listener *l)
{
	CLEANUP(http_request_release) struct http_request http = { 0 };
	struct mcp_link *link = &l->service->link;
	struct http_limits limits = { mcp_service_connect_ms(link->params), UINT_MAX, UINT_MAX,
				      NULL };

	l->answer.on_body = take_piece;
	l->answer.arg = l;
	if (prepare_request(l->service, &http) == 0 &&
	    http_send(&http, &limits, &l->cancel, &l->answer, NULL) == -ECANCELED)
		return;
	if (is_stream(&l->answer))
		atomic_store(&link->tools_changed, true);
}

static void *listener_thread(void *arg)
{
	struct mcp_listener *l = arg;

	read_stream(l);
	l->ended = clock_monotonic();
	atomic_store(&l->is_over, true);
	return NULL;
}

/* Life */

static void listener_free(struct mcp_listener *l)
{
	stream_release(&l->stream);
	http_answer_release(&l->answer);
	cancel_release(&l->cancel);
	free(l);
	atomic_fetch_sub(&listeners, 1);
}

/* NULL: there are enough streams, or no memory or thread for another. */
static struct mcp_listener *listener_new(struct mcp_service *s)
{
	struct mcp_listener *l = NULL;

	if (atomic_fetch_add(&listeners, 1) < MCP_LISTENERS_MAX)
		l = calloc(1, sizeof *l);
	if (!l || cancel_init(&l->cancel, NULL) < 0) {
		free(l);
		atomic_fetch_sub(&listeners, 1);
		return NULL;
	}
	l->service = s;
	stream_init(&l->stream, STREAM_SSE);
	if (pthread_create(&l->thread, NULL, listener_thread, l) == 0)
		return l;
	listener_free(l);
	return NULL;
}

/* The time to ask again: never if the server has no such stream; later if the stream failed. */
static uint64_t again_at(const struct mcp_listener *l)
{
	int status = l->answer.status;
	bool is_refused = status >= 400 && status <= 499;
	bool is_other = status >= 200 && status <= 299 && !is_stream(&l->answer);
	uint64_t told = (uint64_t)l->stream.retry_ms * NSEC_PER_MSEC;

	return is_refused || is_other ? UINT64_MAX : l->ended + told;
}

void mcp_listen(struct mcp_service *s)
{
	struct mcp_listener *l = s->listener;
	uint64_t now = clock_monotonic();

	if (!s->link.tells_changes || (l && !atomic_load(&l->is_over)))
		return;
	if (l) {
		s->listen_at = MAX(s->listen_at, again_at(l));
		mcp_listen_release(s);
	}
	if (now < s->listen_at)
		return;
	s->listen_at = now + AGAIN;
	s->listener = listener_new(s);
}

void mcp_listen_stop(struct mcp_service *s)
{
	if (s->listener)
		cancel_fire(&s->listener->cancel);
}

void mcp_listen_release(struct mcp_service *s)
{
	struct mcp_listener *l = s->listener;

	if (!l)
		return;
	cancel_fire(&l->cancel);
	(void)pthread_join(l->thread, NULL);
	listener_free(l);
	s->listener = NULL;
}
