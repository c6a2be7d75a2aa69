/*
 * The history cache: the pasts of sessions, kept from one request to a model to the next.
 *
 * The pasts that were not used for the longest time are dropped when together they take more than
 * PAST_CACHE_BYTES. A past that takes more by itself is not kept.
 */
#ifndef RUNNER_HISTORY_PAST_CACHE_H
#define RUNNER_HISTORY_PAST_CACHE_H

#include "base/mutex.h"
#include "runner/history/past.h"

#define PAST_CACHE_BYTES   (32u << 20)
#define PAST_CACHE_BUCKETS 256

struct cached_past;

struct past_cache {
	size_t limit; /* in bytes; fixed before the first use */

	struct mutex lock;
	struct cond put; /* a past is no longer in use, or is gone */
	struct cached_past *bucket[PAST_CACHE_BUCKETS] GUARDED_BY(lock);
	struct cached_past *newest GUARDED_BY(lock);
	struct cached_past *oldest GUARDED_BY(lock);
	size_t bytes GUARDED_BY(lock);
};

void past_cache_init(struct past_cache *cache);
/* No past may be in use. */
void past_cache_release(struct past_cache *cache);

/*
 * Get the past of a session as it was last, for the caller alone until past_cache_put(). Waits
 * while another thread has it. -ENOMEM. Any thread that has no other past; blocks.
 */
MUST_CHECK int past_cache_get(struct past_cache *cache, struct store *st, struct ref session,
			      struct past **out, struct err *err);

/* Give a past back. is_good: keep it; else it is dropped. */
void past_cache_put(struct past_cache *cache, struct past *past, bool is_good);

#endif
