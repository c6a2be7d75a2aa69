/*
 * Entries of an agent's `tools`: {name, args}.
 *
 *   a built-in's name		that tool, see builtin.h
 *   AgentTool			another agent of the folder
 *   MCPToolset, McpToolset	the tools of a server
 *   toolsets/NAME		a program that lists its tools at each step
 *   another path		a program, with its declaration beside it
 */
#ifndef RUNNER_AGENT_TOOL_ENTRY_H
#define RUNNER_AGENT_TOOL_ENTRY_H

#include "runner/agent/file.h"

#define TOOL_ENTRY_AGENT "AgentTool"
#define TOOL_ENTRY_MCP   "McpToolset"

/*
 * Read a list of entries, with the files that they name, into the tools and toolsets of
 * the file's agent.
 *
 * @field	the name of the field that has the list
 * Returns 0; -EINVAL: err has "FILE:LINE: tools[INDEX].name: reason", or names the
 * declaration; -ENOMEM.
 */
MUST_CHECK int tool_entry_read_all(struct agent_file *file, const char *field, const json_t *list);

#endif
