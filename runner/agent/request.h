/*
 * The parts of an agent's requests to its model that are equal in every conversation.
 */
#ifndef RUNNER_AGENT_REQUEST_H
#define RUNNER_AGENT_REQUEST_H

#include "runner/agent/agent.h"
#include "runner/model/ask.h"

/*
 * Fill in the declaration of a tool for its model; *out borrows from the tool. False:
 * models do not see the tool.
 */
bool agent_declare(const struct tool *tool, struct model_tool *out);

/*
 * Get the configuration of the model calls. *config is a reference for the caller, or
 * NULL when there is no configuration. 0 or -ENOMEM.
 *
 * @shaped	the answer must fit the agent's output schema, if the agent has one
 */
MUST_CHECK int agent_config(const struct agent *agent, bool shaped, json_t **config);

#endif
