/*
 * What an agent asks of its model in every conversation.
 */
#ifndef RUNNER_AGENT_REQUEST_H
#define RUNNER_AGENT_REQUEST_H

#include "runner/agent/agent.h"
#include "runner/model/ask.h"

/* The declaration of a tool, which borrows from it. False: models do not see the tool. */
bool agent_declare(const struct tool *tool, struct model_tool *out);

/*
 * The configuration, a reference for the caller; NULL: none. shaped: the answer
 * has to fit the agent's output schema, where there is one. -ENOMEM.
 */
MUST_CHECK int agent_config(const struct agent *agent, bool shaped, json_t **config);

#endif
