/*
 * Pasts that are kept: what was read of sessions, from one request to a model to the next.
 *
 * Those that were not used for the longest time go when together they take more than
 * PASTS_BYTES. One that takes more by itself is not kept.
 */
#ifndef RUNNER_HISTORY_CACHE_H
#define RUNNER_HISTORY_CACHE_H

#include "base/mutex.h"
#include "runner/history/past.h"

#define PASTS_BYTES   (32u << 20)
#define PASTS_BUCKETS 256

struct kept_past;

struct pasts {
	/* fixed */
	size_t limit; /* in bytes */

	struct mutex lock;
	struct cond given; /* one is no longer in use, or is gone */
	struct kept_past *bucket[PASTS_BUCKETS] GUARDED_BY(lock);
	struct kept_past *newest GUARDED_BY(lock);
	struct kept_past *oldest GUARDED_BY(lock);
	size_t bytes GUARDED_BY(lock);
};

/* limit: PASTS_BYTES but in tests. */
void pasts_init(struct pasts *ps, size_t limit);
/* None is in use any more. */
void pasts_release(struct pasts *ps);

/*
 * The past of a session, as it was last, for the caller alone until pasts_give(). Waits while
 * another thread has it. -ENOMEM. Any thread, which has no other one.
 */
MUST_CHECK int pasts_take(struct pasts *ps, struct store *st, struct ref session, struct past **out,
			  struct err *err);

/* is_good: keep it; else it is dropped. */
void pasts_give(struct pasts *ps, struct past *past, bool is_good);

#endif
