/*
 * Mutexes: the only locks of this program, checked by clang's thread analysis.
 *
 * The order in which they may be taken is in docs/ARCHITECTURE.md. A thread
 * that holds a mutex calls nothing that can block. A mutex or condition that
 * fails is a bug in this program and aborts it.
 */
#ifndef BASE_MUTEX_H
#define BASE_MUTEX_H

#include "base/cc.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct CAPABILITY mutex {
	pthread_mutex_t os;
};

/* A condition: threads wait for it under a mutex. */
struct cond {
	pthread_cond_t os;
};

#define MUTEX_INIT                                                                                 \
	{                                                                                          \
		PTHREAD_MUTEX_INITIALIZER                                                          \
	}

void mutex_init(struct mutex *m);
void mutex_release(struct mutex *m);
void mutex_lock(struct mutex *m) ACQUIRE(m);
void mutex_unlock(struct mutex *m) RELEASE(m);

void cond_init(struct cond *c);
void cond_release(struct cond *c);
void cond_wait(struct cond *c, struct mutex *m) REQUIRES(m);

/* Wait until clock_monotonic() is `deadline` at most. False: the deadline has passed. */
bool cond_wait_until(struct cond *c, struct mutex *m, uint64_t deadline) REQUIRES(m);
void cond_wake_one(struct cond *c);
void cond_wake_all(struct cond *c);

#endif
