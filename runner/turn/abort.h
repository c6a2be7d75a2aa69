/*
 * Turns that an earlier process left running.
 */
#ifndef RUNNER_TURN_ABORT_H
#define RUNNER_TURN_ABORT_H

#include "store/turn/turn.h"

/* Answer the calls that the turn left open, and end it as failed (ABORTED). */
MUST_CHECK int invocation_abort(struct store *st, struct ref session, uint64_t n, struct err *err);

#endif
