/*
 * Services: MCP servers behind a URL, and the messages to them that need no answer.
 */
#ifndef RUNNER_MCP_SERVICE_H
#define RUNNER_MCP_SERVICE_H

#include "base/mutex.h"
#include "base/net/http.h"
#include "runner/mcp/link.h"

#define MCP_EVENT_STREAM "text/event-stream"
#define MCP_SESSION_MAX  sizeof((struct http_answer *)0)->session

struct mcp_listener;
struct mcp_message;

struct mcp_service {
	struct mcp_link link;

	/* for listen.c, one caller at a time */
	struct mcp_listener *listener; /* NULL: none */
	uint64_t listen_at;            /* monotonic ns: no new one before */

	struct mutex lock;
	char session[MCP_SESSION_MAX] GUARDED_BY(lock); /* "": none */
	bool over GUARDED_BY(lock);
};

/* Copy the session's id, "" without one, to `out`, which has MCP_SESSION_MAX bytes. */
void mcp_service_session(struct mcp_service *s, char *out);

/* The time limit for making a connection, in milliseconds. */
unsigned mcp_service_connect_ms(const struct mcp_params *params);

/* Whether an answer is a stream of events. */
bool mcp_service_streams(const struct http_answer *answer);

/* Note that nothing can be asked over this link any more. */
void mcp_service_over(struct mcp_service *s);

/* Set the address and the headers of every request. 0; -ENOMEM; -E2BIG; -EINVAL. */
MUST_CHECK int mcp_service_prepare(const struct mcp_service *s, const char *session,
				   struct http_request *http);

/*
 * Send a message that needs no answer, by POST or another method, within ms.
 * Returns the status of HTTP; -errno as http_send().
 */
MUST_CHECK int mcp_service_tell(struct mcp_service *s, const char *method, struct span message,
				unsigned ms, struct cancel *cancel, struct err *err);

/* Send a message after the end of the turn. After a failure the link is over. */
void mcp_service_tell_last(struct mcp_service *s, const char *method, struct span message,
			   unsigned ms);

/* Answer a request of the server, as a client without capabilities does. */
void mcp_service_reply(struct mcp_service *s, const struct mcp_message *request,
		       struct cancel *cancel);

#endif
