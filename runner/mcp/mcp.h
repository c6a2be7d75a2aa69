/*
 * MCP: tools that a server of the Model Context Protocol offers.
 *
 * A server is a program, reached over its standard input and output, or a
 * service behind a URL (Streamable HTTP). Servers of revisions 2024-11-05 to 2025-11-25
 * open a connection with `initialize`; in revision 2026-07-28 each request stands
 * alone. Every new connection finds out which of the two the server speaks.
 * Only tools are used: no resources, prompts, sampling or roots.
 *
 * The first call that needs a program starts it; if it has ended, the next call
 * starts it again. One program serves all turns at once. Its environment is
 * PATH, HOME, LANG, TMPDIR and the entry's `env`. In a sandbox the program
 * cannot read the agents' `.env` files.
 */
#ifndef RUNNER_MCP_MCP_H
#define RUNNER_MCP_MCP_H

#include "base/buf.h"
#include "base/cancel.h"
#include "runner/mcp/limits.h"
#include "runner/syntax/yaml.h"

#include <jansson.h>

struct mcp_params; /* the args of an MCPToolset entry: how to reach a server */
struct sandbox;
struct mcp_server; /* one server; it is connected when first used, and again after a loss */

/*
 * Read the args of an `MCPToolset` entry.
 *
 * @path	the path of the args in the file, such as "tools[2].args"
 * Returns 0; -EINVAL: err has "FILE:LINE: PATH: reason"; -ENOMEM.
 */
MUST_CHECK int mcp_params_read(const struct yaml_tree *tree, const char *path, const json_t *args,
			       struct mcp_params **out, struct err *err);
void mcp_params_free(struct mcp_params *params); /* NULL is fine */
DEFINE_CLEANUP(struct mcp_params, mcp_params_free);

/* The args for agent.json, with the values of `headers` and `env` masked. NULL: out of memory. */
json_t *mcp_params_show(const struct mcp_params *params);

/*
 * Make a server that is not connected yet. NULL: out of memory or descriptors.
 *
 * @params	borrowed for the server's life
 * @folder	the agent's folder, absolute, in which a program runs; borrowed likewise
 */
struct mcp_server *mcp_server_new(const struct mcp_params *params, const char *folder);

/*
 * Have the server's program started in a sandbox; call this before the server is
 * used. Both are borrowed for the server's life.
 *
 * @sandbox	NULL or off: the program runs without a sandbox
 * @agents	the folder of all agents, whose `.env` files the program cannot read;
 *		NULL: only the one of its own agent
 */
void mcp_server_enclose(struct mcp_server *server, const struct sandbox *sandbox,
			const char *agents);

/*
 * End the connection. A program's standard input is closed, then TERM and KILL
 * are sent to its group, each after MCP_CLOSE_GRACE_MS; the program is reaped when
 * this returns. Nobody may use the server meanwhile. NULL is fine.
 */
void mcp_server_free(struct mcp_server *server);
DEFINE_CLEANUP(struct mcp_server, mcp_server_free);

/* A tool on offer. The texts are valid while the mcp_tool_fn runs. */
struct mcp_tool {
	const char *name;         /* for the model: prefix and server_name; letters, digits, _, - */
	const char *server_name;  /* the server's name of it */
	const char *description;  /* "" without one */
	const json_t *parameters; /* inputSchema: an object */
};

/* A result other than 0 stops mcp_tools(), which returns it. */
typedef int mcp_tool_fn(void *arg, const struct mcp_tool *tool);

/*
 * Call fn for each tool on offer now, filtered and prefixed, sorted by name.
 *
 * The list is cached. The list is read again if the server reports a change, the
 * connection is new, or the list is too old (tool_list_cache_ttl_seconds, or the
 * time that the server gave). A tool that cannot be offered is left out, see
 * mcp_warnings().
 *
 * Returns 0; what fn returned; -ECANCELED; -ETIMEDOUT; -ENOMEM; another -errno:
 * err names the server and says what is wrong. Any thread, many at once; blocks.
 */
MUST_CHECK int mcp_tools(struct mcp_server *server, struct cancel *cancel, mcp_tool_fn *fn,
			 void *arg, struct err *err);

/*
 * A list of warnings about the latest list of tools, such as tools that were left
 * out. Each is a sentence that names the server. NULL: out of memory.
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
 * Returns 0, even when isError is true in the result; -ECANCELED;
 * -ETIMEDOUT (the server is told of both); -EINVAL: args are not a JSON object;
 * -EREMOTEIO: the server refused, and err has its message; -EFBIG: more than
 * MCP_MESSAGE_MAX bytes; -EPROTO: the answer is not valid; -ENOMEM; another -errno:
 * there is no connection, or it broke. A call is sent at most once. Any thread, many at once;
 *blocks. Cancelling takes effect at once.
 */
MUST_CHECK int mcp_call(struct mcp_server *server, const struct mcp_call *call,
			struct cancel *cancel, struct buf *result, struct err *err);

#endif
