/*
 * MCP servers: none yet. Entries that name one are refused.
 */
#include "runner/mcp.h"

#include <errno.h>

int mcp_params_read(const struct yaml_tree *tree, const char *path, const json_t *args UNUSED,
		    struct mcp_params **out UNUSED, struct err *err)
{
	return yaml_tree_fail(tree, err, path, "MCP servers are not there yet");
}

void mcp_params_free(struct mcp_params *params UNUSED)
{
}

json_t *mcp_params_show(const struct mcp_params *params UNUSED)
{
	return json_object();
}

struct mcp_server *mcp_server_new(const struct mcp_params *params UNUSED, const char *folder UNUSED)
{
	return NULL;
}

void mcp_server_free(struct mcp_server *server UNUSED)
{
}
