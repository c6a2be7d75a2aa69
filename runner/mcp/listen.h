/*
 * Listening to a service: that its list of tools changed, when no request is
 * under way that could carry the news.
 *
 * In the legacy era a GET opens a stream of what the server has to say; in the
 * modern one subscriptions/listen asks for it. A thread reads it until it ends
 * and does nothing else, so nobody waits for it. There is a stream where a list
 * of tools is used that the server said it would tell of: it is opened before
 * a list is read, not again within MCP_LISTEN_AGAIN_MS, and never again when the
 * server has none. When a stream ends, the list counts as changed.
 */
#ifndef RUNNER_MCP_LISTEN_H
#define RUNNER_MCP_LISTEN_H

#include "runner/mcp/service.h"

#define MCP_LISTENERS_MAX   64    /* streams of all services; without one, lists have their time */
#define MCP_LISTEN_AGAIN_MS 60000 /* or what the server said, if that is more */

/* Have a stream, if it is time for one. Does not block. One caller at a time. */
void mcp_listen(struct mcp_service *s);

/* Start to end it, at once. */
void mcp_listen_stop(struct mcp_service *s);

/* End it. Nobody uses the service any more. */
void mcp_listen_release(struct mcp_service *s);

#endif
