/*
 * Built-in tools: what ADK offers to models besides an agent's own programs.
 */
#ifndef RUNNER_AGENT_BUILTIN_H
#define RUNNER_AGENT_BUILTIN_H

#include "runner/agent/agent.h"

/* The kind of the built-in tool of that name; TOOL_PROGRAM: there is none. */
enum tool_kind builtin_find(const char *name);

/*
 * Make *tool, all zero, the built-in of that kind: name, description and
 * parameters. TOOL_MODEL_RESPONSE has none of the latter: they are the agent's
 * output schema. -ENOMEM: tool_release() it in any case.
 */
MUST_CHECK int builtin_fill(enum tool_kind kind, struct tool *tool, struct err *err);

/*
 * Whether a tool of the user's must not have that name: it is one of a tool
 * that is added when it is needed, or of a call that ADK makes for clients.
 */
bool builtin_is_reserved(const char *name);

#endif
