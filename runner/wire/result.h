/*
 * Results of calls in messages: the media that may stand beside a response.
 */
#ifndef RUNNER_WIRE_RESULT_H
#define RUNNER_WIRE_RESULT_H

#include "store/json/content.h"

/* functionResponse.parts of a response as a content of its own; *media NULL: none. -ENOMEM. */
MUST_CHECK int model_result_media(const struct part *response, struct content **media);

#endif
