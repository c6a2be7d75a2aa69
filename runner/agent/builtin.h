/*
 * Built-in tools: what ADK offers to models besides an agent's own programs.
 */
#ifndef RUNNER_AGENT_BUILTIN_H
#define RUNNER_AGENT_BUILTIN_H

#include "runner/agent/agent.h"

/* The kind of the built-in tool of a name; TOOL_PROGRAM: no such built-in. */
enum tool_kind builtin_find(const char *name);

/*
 * Fill in name, description and parameters of a built-in tool; *tool is all zero. The
 * caller sets the parameters of TOOL_MODEL_RESPONSE, which are the agent's output schema.
 * 0; -EINVAL: no built-in is of that kind; -ENOMEM. The caller releases the tool, even
 * after an error.
 */
MUST_CHECK int builtin_fill(enum tool_kind kind, struct tool *tool, struct err *err);

/*
 * Whether no tool of a user may have a name: the name of a tool that adkfs adds where
 * it is needed, or of a call that ADK writes into the log for clients.
 */
bool builtin_is_reserved(const char *name);

#endif
