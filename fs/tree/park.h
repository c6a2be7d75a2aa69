/*
 * Parked requests: FUSE requests that wait without a thread.
 *
 * A request that has no answer yet is parked. The one thread of this module lets
 * the request try again when its session moves (has an event, a change of a turn,
 * or more output), when its deadline is over, when its caller is interrupted, and
 * when the daemon stops.
 */
#ifndef FS_TREE_PARK_H
#define FS_TREE_PARK_H

#include "base/err.h"
#include "base/mutex.h"

#include <stdatomic.h>
#include <stdint.h>

enum park_reason { PARK_MOVED, PARK_INTERRUPTED, PARK_TIMED_OUT, PARK_STOPPING };

struct parked {
	/* set by the caller of park_add() */
	uint64_t session;
	uint64_t deadline; /* monotonic ns; 0: no deadline */
	const void *owner; /* for park_leave(); only compared; NULL: no owner */
	/*
	 * Try to answer the request, on the thread of this module. True: answered, and *p is
	 * freed. Must answer for every reason but PARK_MOVED.
	 */
	bool (*again)(struct parked *p, enum park_reason reason);

	atomic_bool interrupted; /* set by park_interrupt() */
	bool is_new;             /* guarded by park.lock: the first try is still to come */
	struct parked *next;     /* guarded by park.lock */
};

#define PARK_MAX       10000 /* parked requests */
#define PARK_WOKEN_MAX 64

struct park {
	struct mutex lock;
	struct cond wake;
	struct parked *list GUARDED_BY(lock);
	unsigned count GUARDED_BY(lock); /* with the requests that try again just now */
	uint64_t woken[PARK_WOKEN_MAX] GUARDED_BY(lock); /* sessions that moved */
	unsigned woken_count GUARDED_BY(lock);           /* over the maximum: all sessions moved */
	bool look GUARDED_BY(lock);                      /* a request is new or was interrupted */
	bool stopping GUARDED_BY(lock);
	bool started;
	pthread_t thread;
};

/* Start the thread. Returns 0; -errno: the thread could not be started. */
MUST_CHECK int park_start(struct park *park, struct err *err);

/* Answer all parked requests, refuse new ones and end the thread. */
void park_stop(struct park *park);

/*
 * Park a request. The request is tried once more at once, so that no change between the
 * caller's last try and this call is missed. Any thread.
 *
 * @p owned by the park from here on, when this returns 0
 * Returns 0; -EAGAIN: too many requests are parked; -ESHUTDOWN: the daemon stops.
 */
MUST_CHECK int park_add(struct park *park, struct parked *p);

/* Like park_add(), without the immediate try. */
MUST_CHECK int park_add_quiet(struct park *park, struct parked *p);

/* Let the parked requests of a session try again. Any thread; does not block. */
void park_wake(struct park *park, uint64_t session);

/* Let a request try again with PARK_INTERRUPTED. Any thread; p must not be freed meanwhile. */
void park_interrupt(struct park *park, struct parked *p);

/* Let all requests of an owner that goes away try again with PARK_INTERRUPTED. */
void park_leave(struct park *park, const void *owner);

/* The number of parked requests. */
unsigned park_count(struct park *park);

#endif
