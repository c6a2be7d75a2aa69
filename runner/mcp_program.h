/*
 * Programs that are MCP servers: found and started.
 */
#ifndef RUNNER_MCP_PROGRAM_H
#define RUNNER_MCP_PROGRAM_H

#include "runner/mcp_params.h"
#include "runner/process.h"

/*
 * Start the program of params. A command with a slash is a path from the
 * agent's folder, any other is looked for in the PATH that the program gets.
 * fds and pid as process_start() has them. -ENOENT, -EACCES, another -errno:
 * err names the server.
 */
MUST_CHECK int mcp_program_start(const struct mcp_params *params, const char *folder, int fds[FDS],
				 pid_t *pid, struct err *err);

/* "ended with exit status 3: its last line on standard error", appended. */
void mcp_program_say(struct buf *out, int status, struct span stderr_text);

#endif
