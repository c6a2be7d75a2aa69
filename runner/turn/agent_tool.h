/*
 * Agents as tools: an agent answers a call, in a session of its own in memory.
 */
#ifndef RUNNER_TURN_AGENT_TOOL_H
#define RUNNER_TURN_AGENT_TOOL_H

#include "runner/turn/call.h"

/* 0: the call has its response; a negative errno: the turn fails. */
MUST_CHECK int call_agent(struct tool_call *call, struct err *err);

#endif
