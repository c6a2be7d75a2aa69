/*
 * Showing the programs and toolsets of agents in agent.json.
 *
 * Each function makes a value for the caller. NULL: out of memory.
 */
#ifndef RUNNER_AGENT_SHOW_H
#define RUNNER_AGENT_SHOW_H

#include "runner/agent/agent.h"

/* The path of a program, relative to the folder of its agent. */
json_t *agent_show_path(const struct agent *agent, const struct program *program);

/* A tool of kind TOOL_PROGRAM. */
json_t *agent_show_program(const struct agent *agent, const struct tool *tool);

/* A toolset; the values of `env` and `headers` are masked. */
json_t *agent_show_toolset(const struct agent *agent, const struct toolset *set);

#endif
