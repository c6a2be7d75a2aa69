/*
 * Programs that are MCP servers: found and started.
 */
#ifndef RUNNER_MCP_PROGRAM_H
#define RUNNER_MCP_PROGRAM_H

#include "runner/mcp/params.h"
#include "runner/process/child.h"

/*
 * Start the program of params. A command with a slash is a path from the
 * agent's folder, any other is looked for in the PATH that the program gets. In a
 * sandbox it ends with the thread that calls this. *child is CHILD_NONE before.
 * -ENOENT, -EACCES, another -errno: err names the server.
 */
MUST_CHECK int mcp_program_start(const struct mcp_params *params, const struct mcp_home *home,
				 struct child *child, struct err *err);

/*
 * "ended with exit status 3: its last line on standard error", appended.
 * r and status: as child_reap() gave them.
 */
void mcp_program_say(struct buf *out, int r, int status, struct span stderr_text);

#endif
