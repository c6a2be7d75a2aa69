/*
 * Links: see link.h.
 */
#include "runner/mcp/link.h"

#include "base/clock.h"

#include <errno.h>

void mcp_request_release(struct mcp_request *rq)
{
	buf_release(&rq->result);
	buf_release(&rq->refusal.data);
	buf_release(&rq->refusal.message);
}

void mcp_link_init(struct mcp_link *link, const struct mcp_transport *transport,
		   const struct mcp_params *params)
{
	*link = (struct mcp_link){ .transport = transport, .params = params, .era = MCP_MODERN };
	(void)strcpy(link->version, MCP_MODERN_VERSION);
}

uint64_t mcp_request_last(const struct mcp_request *rq, uint64_t now)
{
	uint64_t last = now + MAX(rq->timeout_ms, MCP_CALL_MAX_MS) * (uint64_t)NSEC_PER_MSEC;

	return rq->deadline ? MIN(last, rq->deadline) : last;
}

unsigned mcp_patience(const struct mcp_params *params)
{
	return params->timeout_ms ? params->timeout_ms : MCP_CONNECT_MS;
}

unsigned mcp_time_left(const struct mcp_link *link)
{
	uint64_t now = clock_monotonic();

	return now >= link->agree_by ? 1 : (unsigned)((link->agree_by - now) / NSEC_PER_MSEC + 1);
}

int mcp_refused(const struct mcp_link *link, const struct mcp_request *rq, struct err *err)
{
	const struct mcp_refusal *refusal = &rq->refusal;

	return mcp_fail(link->params, err, -EREMOTEIO, "refused %s: %s%s(%ld)", rq->method,
			refusal->message.len ? refusal->message.data : "",
			refusal->message.len ? " " : "", refusal->code);
}
