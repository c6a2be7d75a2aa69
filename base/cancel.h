/*
 * A way to end long work from another thread: a flag that can be polled for.
 */
#ifndef BASE_CANCEL_H
#define BASE_CANCEL_H

#include "base/err.h"

#include <stdatomic.h>
#include <stdbool.h>

struct cancel {
	atomic_bool fired; /* pairs with itself: set once, before the descriptor is written */
	int fd;            /* becomes readable when fired, and stays so */
};

/* 0 or -errno. */
MUST_CHECK int cancel_init(struct cancel *c, struct err *err);
void cancel_release(struct cancel *c);

/* Any thread, any number of times. */
void cancel_fire(struct cancel *c);
bool cancel_fired(const struct cancel *c);

#endif
