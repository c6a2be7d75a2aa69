/*
 * Threads with a small stack.
 */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include "base/cc.h"

#include <pthread.h>
#include <stddef.h>

/*
 * Start a thread that runs fn(arg) on a stack of this size in bytes. out: gets the thread, which
 * the caller joins; NULL: the thread is detached. 0 or -errno.
 */
MUST_CHECK int thread_start(size_t stack, void *(*fn)(void *), void *arg, pthread_t *out);

#endif
