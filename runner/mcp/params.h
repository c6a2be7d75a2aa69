/*
 * Parameters of an MCP server: how to reach it, and which of its tools to offer.
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

/* The place in which a program runs. */
struct mcp_home {
	const char *folder;            /* the agent's, absolute */
	const char *agents;            /* the folder of all agents; NULL: not known */
	const struct sandbox *sandbox; /* NULL: none */
};

struct mcp_params {
	json_t *args; /* of the entry; owns the texts and values below */
	enum mcp_transport_kind transport;
	char label[96]; /* the name of the server in errors; holds no secret */

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
	unsigned timeout_ms;  /* to start and agree; for a page of tools; 0: the default */
	const json_t *filter; /* list of own names to offer, or NULL for all */
	const char *prefix;
	int64_t ttl_ms; /* of a list of tools; -1: the server decides */
};

/*
 * Set "MCP server LABEL: text" and return code. Values of `env` and `headers` are
 * masked in the text, since it may quote the server.
 */
int mcp_fail(const struct mcp_params *params, struct err *err, int code, const char *fmt, ...)
	PRINTF(4, 5);

#endif
