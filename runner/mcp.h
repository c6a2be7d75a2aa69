/*
 * MCP servers, as entries of an agent's `tools` name them.
 */
#ifndef RUNNER_MCP_H
#define RUNNER_MCP_H

#include "runner/yaml.h"

struct mcp_params; /* how to reach a server, and which of its tools to offer */
struct mcp_server;

/*
 * Read the args of an entry; `path` is theirs in the file, such as
 * "tools[1].args". -EINVAL: err has "FILE:LINE: PATH.member: reason"; -ENOMEM.
 */
MUST_CHECK int mcp_params_read(const struct yaml_tree *tree, const char *path, const json_t *args,
			       struct mcp_params **out, struct err *err);
void mcp_params_free(struct mcp_params *params); /* NULL is fine */

/* What agent.json shows of them, without secrets. NULL: out of memory. */
json_t *mcp_params_show(const struct mcp_params *params);

/* A server that connects when it is first asked. The params stay the caller's. NULL: no memory. */
struct mcp_server *mcp_server_new(const struct mcp_params *params, const char *folder);
void mcp_server_free(struct mcp_server *server); /* NULL is fine */

#endif
