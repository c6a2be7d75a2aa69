/*
 * MCP: tools that a server of the Model Context Protocol offers.
 *
 * A server is a program that is talked to over its standard input and output,
 * or a service behind a URL (Streamable HTTP). Both the revisions that open
 * with `initialize` (2024-11-05 to 2025-11-25) and the one where each request
 * stands alone (2026-07-28) are spoken; which one is found out at every
 * connection. Only tools are used: no resources, prompts, sampling, roots.
 *
 * A program is started when it is first needed, serves all turns at once, and
 * is started again by the first call after it has ended. It gets PATH, HOME,
 * LANG, TMPDIR and what the entry's `env` has, and nothing else. In a sandbox it
 * cannot read the `.env` files of the agents.
 */
#ifndef RUNNER_MCP_MCP_H
#define RUNNER_MCP_MCP_H

#include "base/buf.h"
#include "base/cancel.h"
#include "runner/mcp/limits.h"
#include "runner/syntax/yaml.h"

#include <jansson.h>

struct mcp_params; /* one connection, as the args of an MCPToolset entry give it */
struct sandbox;
struct mcp_server; /* the connection: made when first asked, and again when it is lost */

/*
 * Read the args of an `MCPToolset` entry.
 *
 * @path	of the args in the file, such as "tools[2].args"
 * Returns 0; -EINVAL: err has "FILE:LINE: PATH: reason"; -ENOMEM.
 */
MUST_CHECK int mcp_params_read(const struct yaml_tree *tree, const char *path, const json_t *args,
			       struct mcp_params **out, struct err *err);
void mcp_params_free(struct mcp_params *params); /* NULL is fine */
DEFINE_CLEANUP(struct mcp_params, mcp_params_free);

/* The args for agent.json, values of `headers` and `env` masked. NULL: out of memory. */
json_t *mcp_params_show(const struct mcp_params *params);

/*
 * A server that is not connected yet. NULL: out of memory (or descriptors).
 *
 * @params	borrowed for the server's life
 * @folder	the agent's, absolute; where a program runs. Borrowed as params are
 */
struct mcp_server *mcp_server_new(const struct mcp_params *params, const char *folder);

/*
 * Before it is used: start its program in a sandbox (NULL, or off: in none),
 * where no `.env` of the folders in `agents` (NULL: of its own) can be read. Both
 * are borrowed for the server's life.
 */
void mcp_server_enclose(struct mcp_server *server, const struct sandbox *sandbox,
			const char *agents);

/*
 * End the connection. A program's standard input is closed, then TERM and KILL
 * are sent to its group, each after MCP_CLOSE_GRACE_MS; it is reaped when this
 * returns. Nobody may be using the server. NULL is fine.
 */
void mcp_server_free(struct mcp_server *server);
DEFINE_CLEANUP(struct mcp_server, mcp_server_free);

/* A tool on offer. All of it is valid while the function it is given to runs. */
struct mcp_tool {
	const char *name;         /* as offered: the prefix and its own, letters, digits, _ and - */
	const char *server_name;  /* its own */
	const char *description;  /* "" when it has none */
	const json_t *parameters; /* inputSchema: an object */
};

/* Not 0: stop, mcp_tools() returns it. */
typedef int mcp_tool_fn(void *arg, const struct mcp_tool *tool);

/*
 * Call fn for each tool on offer now, filtered and prefixed, sorted by name.
 *
 * The list is the kept one unless the server said that it changed, the
 * connection is new, or its time is over (tool_list_cache_ttl_seconds, or what
 * the server said). A tool that cannot be offered is left out, see mcp_warnings().
 *
 * Returns 0; what fn returned; -ECANCELED; -ETIMEDOUT; -ENOMEM; another -errno:
 * err names the server and says what is wrong. Any thread, many at once; blocks.
 */
MUST_CHECK int mcp_tools(struct mcp_server *server, struct cancel *cancel, mcp_tool_fn *fn,
			 void *arg, struct err *err);

/*
 * What was wrong with the latest list, such as tools that were left out: a list of
 * sentences that name the server. Empty while there is none. NULL: out of memory.
 */
json_t *mcp_warnings(struct mcp_server *server);

/* A call of a tool; all is borrowed. */
struct mcp_call {
	const char *tool;    /* the server's name of it, without prefix */
	struct span args;    /* text of a JSON object, empty is {}; numbers are sent as written */
	unsigned timeout_ms; /* 0: MCP_CALL_MS; starts anew with progress, up to MCP_CALL_MAX_MS */
};

/*
 * Call a tool.
 *
 * @result	the text of the result object is appended, canonical, without
 *		`_meta` and `resultType`
 *
 * Returns 0, even when isError is true in the result; -ECANCELED and
 * -ETIMEDOUT: the server was told; -EINVAL: args; -EREMOTEIO: the server
 * refused, err has its message; -EFBIG: over MCP_MESSAGE_MAX; -EPROTO: no valid
 * answer; -ENOMEM; another -errno: no connection, or it was lost. No call is
 * ever carried out twice. Any thread, many at once; blocks. Cancelling takes
 * effect at once.
 */
MUST_CHECK int mcp_call(struct mcp_server *server, const struct mcp_call *call,
			struct cancel *cancel, struct buf *result, struct err *err);

#endif
