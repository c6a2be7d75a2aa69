/*
 * Programs that are MCP servers: found in PATH and started.
 */
#ifndef RUNNER_MCP_PROGRAM_H
#define RUNNER_MCP_PROGRAM_H

#include "runner/mcp/params.h"
#include "runner/process/child.h"

/*
 * Start the program of a server. A command with a slash is a path from the agent's
 * folder; any other is looked for in the PATH that the program gets. In a sandbox
 * the program ends with the thread that calls this.
 *
 * @child	CHILD_NONE before
 * Returns 0; -ENOENT, -EACCES, another -errno: err names the server.
 */
MUST_CHECK int mcp_program_start(const struct mcp_params *params, const struct mcp_home *home,
				 struct child *child, struct err *err);

/*
 * Append "ended with exit status 3: the last line of standard error". r and status
 * come from child_reap().
 */
void mcp_program_say(struct buf *out, int r, int status, struct span stderr_text);

#endif
