/*
 * Results of calls in messages: functionResponse, with the media that may stand
 * beside the response.
 */
#ifndef RUNNER_MODEL_RESULT_H
#define RUNNER_MODEL_RESULT_H

#include "store/content.h"

/* All zero is none. */
struct model_result {
	struct part call;      /* id and name, by which its call is found; owned */
	struct span response;  /* JSON object; borrowed of the part */
	struct content *media; /* functionResponse.parts: inlineData, fileData; NULL: none */
};

void model_result_release(struct model_result *result);

/* Whether a part is a result. */
bool model_is_result(const struct part *p);

/* Read a part that is one. -ENOMEM. */
MUST_CHECK int model_result_read(const struct part *p, struct model_result *out);

#endif
