/*
 * Parameters of a connection to an MCP server, for the files that make one.
 */
#ifndef RUNNER_MCP_PARAMS_H
#define RUNNER_MCP_PARAMS_H

#include "runner/mcp/mcp.h"

#include <stdbool.h>
#include <stdint.h>

/* How a server is reached. */
enum mcp_transport_kind {
	MCP_TRANSPORT_NONE,  /* the entry does not say */
	MCP_TRANSPORT_STDIO, /* a program, over its standard input and output */
	MCP_TRANSPORT_HTTP,  /* a service, over Streamable HTTP */
};

/* Where a server runs. */
struct mcp_home {
	const char *folder; /* the agent's, absolute */
	const char *agents; /* of all agents; NULL: not known */
	const struct sandbox *sandbox;
};

struct mcp_params {
	json_t *args; /* of the entry; the texts and values below lie in it */
	enum mcp_transport_kind transport;
	char label[96]; /* how errors name the server; no secret */

	/* of a program */
	const char *command;
	const char **argv; /* the command and its arguments, ends with NULL */
	const json_t *env; /* texts by name, or NULL */
	const char *cwd;   /* relative to the agent's folder, or NULL */

	/* of a service */
	const char *url;
	const json_t *headers; /* texts by name, or NULL */
	unsigned silence_ms;   /* between two pieces of an answer */
	bool terminate;        /* end the session when the connection is closed */

	unsigned grace_ms;    /* MCP_CLOSE_GRACE_MS */
	unsigned timeout_ms;  /* to start and agree; for a page of tools; 0: the usual one */
	const json_t *filter; /* list of own names to offer, or NULL for all */
	const char *prefix;
	int64_t ttl_ms; /* of a list of tools; -1: as the server says */
};

/*
 * Set "MCP server LABEL: text" and return code. Values of env and headers that
 * came with the text (a server's last words) are masked.
 */
int mcp_fail(const struct mcp_params *params, struct err *err, int code, const char *fmt, ...)
	PRINTF(4, 5);

#endif
