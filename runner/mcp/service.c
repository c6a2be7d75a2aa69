/*
 * Services: see service.h.
 */
#include "runner/mcp/service.h"

#include "base/clock.h"
#include "runner/mcp/message.h"

#include <strings.h>

void mcp_service_session(struct mcp_service *s, char *out)
{
	mutex_lock(&s->lock);
	(void)strcpy(out, s->session);
	mutex_unlock(&s->lock);
}

void mcp_service_over(struct mcp_service *s)
{
	mutex_lock(&s->lock);
	s->over = true;
	mutex_unlock(&s->lock);
}

unsigned mcp_service_connect_ms(const struct mcp_params *params)
{
	return params->timeout_ms ? params->timeout_ms : MCP_HTTP_CONNECT_MS;
}

bool mcp_service_streams(const struct http_answer *answer)
{
	return !strncasecmp(answer->content_type, MCP_EVENT_STREAM, sizeof MCP_EVENT_STREAM - 1);
}

static int add_own_headers(const struct mcp_params *params, struct http_request *http)
{
	const char *name;
	json_t *value;
	int r = 0;

	/* jansson's loop wants a mutable object, but does not change it */
	json_object_foreach((json_t *)params->headers, name, value)
	{
		if (r == 0)
			r = http_request_header(http, "%s: %s", name, json_string_value(value));
	}
	return r;
}

int mcp_service_prepare(const struct mcp_service *s, const char *session, struct http_request *http)
{
	const struct mcp_params *params = s->link.params;
	int r;

	buf_text(&http->url, params->url);
	r = add_own_headers(params, http);
	if (r == 0)
		r = http_request_header(http, "Accept: %s%s",
					http->method ? "" : "application/json, ", MCP_EVENT_STREAM);
	if (r == 0 && !http->method)
		r = http_request_header(http, "Content-Type: application/json");
	if (r == 0 && *s->link.version)
		r = http_request_header(http, "MCP-Protocol-Version: %s", s->link.version);
	if (r == 0 && *session)
		r = http_request_header(http, "Mcp-Session-Id: %s", session);
	return r;
}

static int ignore_body(void *arg UNUSED, struct span piece UNUSED)
{
	return 0;
}

int mcp_service_tell(struct mcp_service *s, const char *method, struct span message, unsigned ms,
		     struct cancel *cancel, struct err *err)
{
	CLEANUP(http_request_release) struct http_request http = { .method = method };
	CLEANUP(http_answer_release) struct http_answer answer = { .on_body = ignore_body };
	uint64_t until = clock_monotonic() + ms * (uint64_t)NSEC_PER_MSEC;
	struct http_limits limits = { ms, ms, ms, &until };
	char session[MCP_SESSION_MAX];
	int r;

	mcp_service_session(s, session);
	buf_span_add(&http.body, message);
	r = mcp_service_prepare(s, session, &http);
	if (r < 0 || buf_check(&http.body, NULL) < 0)
		return err_nomem(err);
	r = http_send(&http, &limits, cancel, &answer, err);
	return r < 0 ? r : answer.status;
}

void mcp_service_tell_last(struct mcp_service *s, const char *method, struct span message,
			   unsigned ms)
{
	struct cancel never;

	if (cancel_init(&never, NULL) < 0)
		return;
	if (mcp_service_tell(s, method, message, ms, &never, NULL) < 0)
		mcp_service_over(s);
	cancel_release(&never);
}

void mcp_service_reply(struct mcp_service *s, const struct mcp_message *request,
		       struct cancel *cancel)
{
	CLEANUP(buf_release) struct buf text = { 0 };

	if (atomic_load(&s->link.era) == MCP_MODERN)
		return; /* servers of that era make no requests */
	mcp_write_reply(&text, request);
	/* A server that asks without listening misses the answer, which is no failure of ours. */
	if (buf_check(&text, NULL) == 0 &&
	    mcp_service_tell(s, NULL, buf_span(&text), mcp_patience(s->link.params), cancel, NULL) <
		    0)
		return;
}
