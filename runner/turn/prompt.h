/*
 * Prompts: what one step of an agent asks its model.
 */
#ifndef RUNNER_TURN_PROMPT_H
#define RUNNER_TURN_PROMPT_H

#include "runner/model/ask.h"
#include "runner/turn/offer.h"

struct prompt {
	char *model;
	struct buf system;
	struct content **contents; /* owned; others may share one, so none is to be changed */
	size_t count;
	json_t *config; /* owned */
	struct model_tool *tools;
	size_t tool_count;
	json_t *tool_schemas; /* owns what tools point at after a callback changed them */
};

/* out: all zero; to be released in any case. An error: run->failure says why. */
MUST_CHECK int prompt_build(struct agent_run *run, const struct offer *offer, struct prompt *out);
void prompt_release(struct prompt *prompt);

/* Add a content at the end. Takes it, also on failure. -ENOMEM. */
MUST_CHECK int prompt_add(struct prompt *prompt, struct content *content);

#endif
