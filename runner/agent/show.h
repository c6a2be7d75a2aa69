/*
 * Programs and toolsets of agents, as agent.json has them.
 *
 * Each function returns NULL when out of memory.
 */
#ifndef RUNNER_AGENT_SHOW_H
#define RUNNER_AGENT_SHOW_H

#include "runner/agent/agent.h"

/* The path of a program in the folder. */
json_t *agent_show_path(const struct agent *agent, const struct program *program);
json_t *agent_show_callbacks(const struct agent *agent, enum callback_kind kind);
/* A tool that is a program. */
json_t *agent_show_program(const struct agent *agent, const struct tool *tool);
json_t *agent_show_toolset(const struct agent *agent, const struct toolset *set);

#endif
