/*
 * Prompts: the question that one step of an agent puts to its model.
 */
#ifndef RUNNER_TURN_PROMPT_H
#define RUNNER_TURN_PROMPT_H

#include "runner/history/contents.h"
#include "runner/model/ask.h"
#include "runner/turn/offer.h"

struct prompt {
	char *model;
	struct buf system;
	struct history history; /* the contents */
	json_t *config;         /* owned */
	struct model_tool *tools;
	size_t tool_count;
	json_t *tool_schemas; /* owns the texts of the tools after a callback changed them */
};

/*
 * Make the prompt. out: all zero; the caller releases it, even after an error. After an error
 * run->failure says why.
 */
MUST_CHECK int prompt_build(struct agent_run *run, const struct offer *offer, struct prompt *out);
void prompt_release(struct prompt *prompt);

/*
 * For callbacks: append {"model", "contents", "config"}; replace the members that a callback
 * printed. -EINVAL with the reason; -ENOMEM.
 */
MUST_CHECK int prompt_to_json(const struct prompt *prompt, struct buf *out);
MUST_CHECK int prompt_from_json(struct prompt *prompt, struct span json, struct err *err);

#endif
