/*
 * Answers: messages that hold responses to calls which a turn left open.
 */
#ifndef RUNNER_HISTORY_ANSWERS_H
#define RUNNER_HISTORY_ANSWERS_H

#include "store/session/session.h"

/*
 * Look for the calls that a message answers. The turn that made them is named
 * in the message: customMetadata["adkfs.resumes"]. 0, also when it answers
 * none; -EINVAL: nobody made such a call; -ENOMEM, another -errno of reading.
 */
MUST_CHECK int answers_link(struct store *st, struct ref session, struct event *message,
			    struct err *err);

#endif
