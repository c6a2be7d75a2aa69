/*
 * Listening to a service: it reports in a stream that its list of tools changed.
 *
 * In the legacy era a GET opens such a stream; in the modern one the request
 * subscriptions/listen does. A thread of its own reads the stream to its end, so
 * no caller waits for the stream. A stream is opened before a list of tools is read, if
 * the server says that it reports changes. A stream is not opened again within
 * MCP_LISTEN_AGAIN_MS, and never again if the server has no such stream. After the end
 * of a stream the list counts as changed.
 */
#ifndef RUNNER_MCP_LISTEN_H
#define RUNNER_MCP_LISTEN_H

#include "runner/mcp/service.h"

#define MCP_LISTENERS_MAX                                                                          \
	64 /* streams of all services; a service without one has its lists read again in time */
#define MCP_LISTEN_AGAIN_MS 60000 /* or the time that the server gave, if that is more */

/* Open a stream, unless one is open or it is too early. Does not block. One caller at a time. */
void mcp_listen(struct mcp_service *s);

/* Start to end the stream, and return at once. */
void mcp_listen_stop(struct mcp_service *s);

/* End the stream and wait for its thread. */
void mcp_listen_release(struct mcp_service *s);

#endif
