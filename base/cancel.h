/*
 * Cancelling: a thread asks another one to end long work. The other one tests a
 * flag, or polls a descriptor.
 */
#ifndef BASE_CANCEL_H
#define BASE_CANCEL_H

#include "base/err.h"

#include <stdatomic.h>
#include <stdbool.h>

struct cancel {
	atomic_bool fired; /* pairs with itself: set once, before fd is written to */
	int fd;            /* is readable from then on; poll it, never read it */
};

/* Returns 0, or -errno when no descriptor can be made. */
MUST_CHECK int cancel_init(struct cancel *c, struct err *err);
void cancel_release(struct cancel *c);

/* Any thread may call these, any number of times. */
void cancel_fire(struct cancel *c);
bool cancel_fired(const struct cancel *c);

/* Sleep. Returns 0 after ms milliseconds, or -ECANCELED as soon as c is fired. */
MUST_CHECK int cancel_wait(const struct cancel *c, unsigned ms, struct err *err);

#endif
