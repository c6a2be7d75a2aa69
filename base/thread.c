/*
 * Threads: see thread.h.
 */
#include "base/thread.h"

int thread_start(size_t stack, void *(*fn)(void *), void *arg, pthread_t *out)
{
	pthread_attr_t attr;
	pthread_t thread;
	int r;

	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setstacksize(&attr, stack);
	if (!out)
		(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	r = pthread_create(out ? out : &thread, &attr, fn, arg);
	(void)pthread_attr_destroy(&attr);
	return -r;
}
