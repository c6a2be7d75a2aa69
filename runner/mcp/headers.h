/*
 * HTTP headers that repeat parts of an MCP message (modern era), so that a proxy
 * need not read the message: Mcp-Name, and Mcp-Param-NAME for each argument whose
 * schema has "x-mcp-header": "NAME".
 */
#ifndef RUNNER_MCP_HEADERS_H
#define RUNNER_MCP_HEADERS_H

#include "base/net/http.h"

#include <jansson.h>

/* Why a tool with these parameters must not be called; NULL: no reason. */
const char *mcp_headers_check(const json_t *parameters);

/* Add the headers for the arguments of a call, which are canonical text. 0; -ENOMEM; -E2BIG. */
MUST_CHECK int mcp_headers_add(struct http_request *http, const json_t *parameters,
			       struct span args);

/* Add a header with any text, encoded if a header cannot hold it. 0; -ENOMEM; -E2BIG. */
MUST_CHECK int mcp_headers_text(struct http_request *http, const char *name, struct span text);

#endif
