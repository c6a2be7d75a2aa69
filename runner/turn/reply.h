/*
 * Answers of models: as JSON for callbacks, and as members of an event.
 */
#ifndef RUNNER_TURN_REPLY_H
#define RUNNER_TURN_REPLY_H

#include "runner/model/ask.h"
#include "store/json/event.h"

/* Append an answer as JSON, for a callback. -ENOMEM. */
MUST_CHECK int reply_to_json(const struct model_reply *reply, struct buf *out);
/* Replace an answer by the JSON that a callback printed. -EINVAL with the reason; -ENOMEM. */
MUST_CHECK int reply_from_json(struct model_reply *reply, struct span json, struct err *err);
/* Set the members of an event from an answer. */
void reply_to_event(const struct model_reply *reply, struct event *e);

#endif
