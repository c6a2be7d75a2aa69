/*
 * The only lock of this program, known to clang's thread analysis.
 *
 * Lock order is written in docs/ARCHITECTURE.md. Nothing that can block is
 * called while one is held.
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

/* A condition to wait for under a mutex; its clock is the monotonic one. */
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

/* Wait until the monotonic time `deadline` (ns) at most. False when it passed. */
bool cond_wait_until(struct cond *c, struct mutex *m, uint64_t deadline) REQUIRES(m);
void cond_wake_one(struct cond *c);
void cond_wake_all(struct cond *c);

#endif
