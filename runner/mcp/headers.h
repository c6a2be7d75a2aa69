/*
 * HTTP headers that repeat what an MCP message says, so that those who pass it
 * on need not read it (modern era): Mcp-Name, and Mcp-Param-NAME for arguments
 * whose schema has "x-mcp-header": "NAME".
 */
#ifndef RUNNER_MCP_HEADERS_H
#define RUNNER_MCP_HEADERS_H

#include "base/net/http.h"

#include <jansson.h>

/* Why a tool with these parameters must not be called; NULL: it may. */
const char *mcp_headers_check(const json_t *parameters);

/* Add the headers for the arguments of a call, canonical text. -ENOMEM; -E2BIG. */
MUST_CHECK int mcp_headers_add(struct http_request *http, const json_t *parameters,
			       struct span args);

/* Add a header with any text, encoded where a header cannot hold it. -ENOMEM; -E2BIG. */
MUST_CHECK int mcp_headers_text(struct http_request *http, const char *name, struct span text);

#endif
