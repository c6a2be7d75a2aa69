/*
 * Prompts as JSON, for callbacks: {"model", "contents", "config"}.
 */
#ifndef RUNNER_TURN_PROMPT_JSON_H
#define RUNNER_TURN_PROMPT_JSON_H

#include "runner/turn/prompt.h"

MUST_CHECK int prompt_to_json(const struct prompt *prompt, struct buf *out);
/* Replace the members that a callback printed. -EINVAL with the reason; -ENOMEM. */
MUST_CHECK int prompt_from_json(struct prompt *prompt, struct span json, struct err *err);

#endif
