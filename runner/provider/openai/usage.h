/*
 * Tokens that OpenAI's two APIs count, and the servers that imitate them.
 */
#ifndef RUNNER_PROVIDER_OPENAI_USAGE_H
#define RUNNER_PROVIDER_OPENAI_USAGE_H

#include "runner/wire/decode.h"

/* The names of the members. */
extern const struct jsonpick openai_chat_usage[];
extern const struct jsonpick openai_responses_usage[];

/* Take the counts of a usage object; what is no object is nothing. -ENOMEM. */
MUST_CHECK int openai_usage_take(struct model_decode *d, const struct jsonpick *members,
				 struct span object);

#endif
