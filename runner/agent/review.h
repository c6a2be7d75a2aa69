/*
 * Reviews of agents: what their model's provider will refuse, or send otherwise than it is written.
 */
#ifndef RUNNER_AGENT_REVIEW_H
#define RUNNER_AGENT_REVIEW_H

#include "runner/agent/file.h"

/* Add what the provider objects to as warnings of the file. -ENOMEM. */
MUST_CHECK int agent_review(struct agent_file *file);

#endif
