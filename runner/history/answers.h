/*
 * Answers: messages with responses to calls that a turn left open.
 */
#ifndef RUNNER_HISTORY_ANSWERS_H
#define RUNNER_HISTORY_ANSWERS_H

#include "store/session/session.h"

/*
 * Note in a message which turn made the calls that it answers: customMetadata["adkfs.resumes"].
 * Returns 0, even when the message answers no call; -EINVAL: nobody made such a call; -ENOMEM; an
 * error of the store.
 */
MUST_CHECK int answers_link(struct store *st, struct ref session, struct event *message,
			    struct err *err);

#endif
