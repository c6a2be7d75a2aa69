/*
 * Mutexes: see mutex.h.
 */
#include "base/mutex.h"

#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

static void must(int r)
{
	if (r)
		abort();
}

void mutex_init(struct mutex *m)
{
	must(pthread_mutex_init(&m->os, NULL));
}

void mutex_release(struct mutex *m)
{
	(void)pthread_mutex_destroy(&m->os);
}

void mutex_lock(struct mutex *m) NO_THREAD_ANALYSIS
{
	must(pthread_mutex_lock(&m->os));
}

void mutex_unlock(struct mutex *m) NO_THREAD_ANALYSIS
{
	must(pthread_mutex_unlock(&m->os));
}

void cond_init(struct cond *c)
{
	pthread_condattr_t attr;

	must(pthread_condattr_init(&attr));
	must(pthread_condattr_setclock(&attr, CLOCK_MONOTONIC));
	must(pthread_cond_init(&c->os, &attr));
	(void)pthread_condattr_destroy(&attr);
}

void cond_release(struct cond *c)
{
	(void)pthread_cond_destroy(&c->os);
}

void cond_wait(struct cond *c, struct mutex *m)
{
	must(pthread_cond_wait(&c->os, &m->os));
}

bool cond_wait_until(struct cond *c, struct mutex *m, uint64_t deadline)
{
	struct timespec at = {
		.tv_sec = (time_t)(deadline / NSEC_PER_SEC),
		.tv_nsec = (long)(deadline % NSEC_PER_SEC),
	};
	int r = pthread_cond_timedwait(&c->os, &m->os, &at);

	if (r == ETIMEDOUT)
		return false;
	must(r);
	return true;
}

void cond_wake_one(struct cond *c)
{
	must(pthread_cond_signal(&c->os));
}

void cond_wake_all(struct cond *c)
{
	must(pthread_cond_broadcast(&c->os));
}
