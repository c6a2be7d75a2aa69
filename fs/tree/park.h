/*
 * Parked requests: those that wait for something, without a thread.
 *
 * A request that has nothing to answer yet is kept here. When its session
 * moves, when its time is over, when its caller is interrupted, or at the end,
 * the one thread of this module lets it try again.
 */
#ifndef FS_TREE_PARK_H
#define FS_TREE_PARK_H

#include "base/err.h"
#include "base/mutex.h"

#include <stdatomic.h>
#include <stdint.h>

enum park_reason { PARK_MOVED, PARK_INTERRUPTED, PARK_TIMED_OUT, PARK_STOPPING };

struct parked {
	/* set by who parks */
	uint64_t session;
	uint64_t deadline; /* monotonic ns; 0: none */
	const void *owner; /* for park_leave; only compared; NULL: none */
	/*
	 * Try to answer. true: done, *p is freed by it. For any other reason
	 * than PARK_MOVED it has to answer.
	 */
	bool (*again)(struct parked *p, enum park_reason reason);

	atomic_bool interrupted; /* pairs with park_interrupt */
	bool is_new;             /* guarded by park.lock: it is tried once at once */
	struct parked *next;     /* the same */
};

#define PARK_MAX       10000 /* requests that wait */
#define PARK_WOKEN_MAX 64

struct park {
	struct mutex lock;
	struct cond wake;
	struct parked *list GUARDED_BY(lock);
	unsigned count GUARDED_BY(lock);                 /* also those that try again just now */
	uint64_t woken[PARK_WOKEN_MAX] GUARDED_BY(lock); /* sessions that moved */
	unsigned woken_count GUARDED_BY(lock);           /* over the maximum: all moved */
	bool look GUARDED_BY(lock);                      /* one is new, or was interrupted */
	bool stopping GUARDED_BY(lock);
	bool started;
	pthread_t thread;
};

MUST_CHECK int park_start(struct park *park, struct err *err);

/* Answer all, and take no more. */
void park_stop(struct park *park);

/*
 * Park. It is tried once more at once, so that no change is missed between the
 * caller's look and this call. -EAGAIN: too many are parked; -ESHUTDOWN.
 */
MUST_CHECK int park_add(struct park *park, struct parked *p);

/* As park_add, without the try at once. */
MUST_CHECK int park_add_quiet(struct park *park, struct parked *p);

/* The session moved. Any thread; does not block. */
void park_wake(struct park *park, uint64_t session);

/* The caller of a parked request was interrupted. */
void park_interrupt(struct park *park, struct parked *p);

/* Whoever parked these will not ask again: they try once more, PARK_INTERRUPTED. */
void park_leave(struct park *park, const void *owner);

unsigned park_count(struct park *park);

#endif
