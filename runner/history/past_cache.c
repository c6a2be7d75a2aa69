/*
 * The history cache: see past_cache.h.
 */
#include "runner/history/past_cache.h"

#include <stdlib.h>

struct cached_past {
	struct past past;
	struct cached_past *next; /* in its bucket */
	struct cached_past *newer;
	struct cached_past *older;
	size_t bytes;
	bool in_use;
};

void past_cache_init(struct past_cache *cache)
{
	*cache = (struct past_cache){ .limit = PAST_CACHE_BYTES };
	mutex_init(&cache->lock);
	cond_init(&cache->put);
}

static struct cached_past **slot_locked(struct past_cache *cache, uint64_t session)
	REQUIRES(cache->lock)
{
	struct cached_past **at = &cache->bucket[session % PAST_CACHE_BUCKETS];

	while (*at && (*at)->past.session.session != session)
		at = &(*at)->next;
	return at;
}

static void put_first_locked(struct past_cache *cache, struct cached_past *k) REQUIRES(cache->lock)
{
	k->newer = NULL;
	k->older = cache->newest;
	*(cache->newest ? &cache->newest->newer : &cache->oldest) = k;
	cache->newest = k;
}

static void take_out_locked(struct past_cache *cache, struct cached_past *k) REQUIRES(cache->lock)
{
	*(k->newer ? &k->newer->older : &cache->newest) = k->older;
	*(k->older ? &k->older->newer : &cache->oldest) = k->newer;
}

/* Take a past out of the cache, and put it on the list of those to free. */
static void drop_locked(struct past_cache *cache, struct cached_past *k, struct cached_past **gone)
	REQUIRES(cache->lock)
{
	*slot_locked(cache, k->past.session.session) = k->next;
	take_out_locked(cache, k);
	cache->bytes -= k->bytes;
	k->next = *gone;
	*gone = k;
}

static void drop_excess_locked(struct past_cache *cache, struct cached_past **gone)
	REQUIRES(cache->lock)
{
	struct cached_past *k = cache->oldest;

	while (k && cache->bytes > cache->limit) {
		struct cached_past *newer = k->newer;

		if (!k->in_use)
			drop_locked(cache, k, gone);
		k = newer;
	}
}

static void free_list(struct cached_past *list)
{
	while (list) {
		struct cached_past *next = list->next;

		past_release(&list->past);
		free(list);
		list = next;
	}
}

void past_cache_release(struct past_cache *cache) NO_THREAD_ANALYSIS /* nobody else is left */
{
	size_t i;

	for (i = 0; i < PAST_CACHE_BUCKETS; i++)
		free_list(cache->bucket[i]);
	cond_release(&cache->put);
	mutex_release(&cache->lock);
}

static struct cached_past *new_locked(struct past_cache *cache, struct store *st,
				      struct ref session) REQUIRES(cache->lock)
{
	struct cached_past **at = slot_locked(cache, session.session);
	struct cached_past *k = calloc(1, sizeof *k);

	if (!k)
		return NULL;
	k->past = (struct past){ .st = st, .session = session, .caches = true };
	*at = k;
	put_first_locked(cache, k);
	return k;
}

int past_cache_get(struct past_cache *cache, struct store *st, struct ref session,
		   struct past **out, struct err *err)
{
	struct cached_past *k;

	mutex_lock(&cache->lock);
	while ((k = *slot_locked(cache, session.session)) && k->in_use)
		cond_wait(&cache->put, &cache->lock);
	if (!k)
		k = new_locked(cache, st, session);
	if (k)
		k->in_use = true;
	mutex_unlock(&cache->lock);
	if (!k)
		return err_nomem(err);
	*out = &k->past;
	return 0;
}

void past_cache_put(struct past_cache *cache, struct past *past, bool is_good)
{
	struct cached_past *k = CONTAINER_OF(past, struct cached_past, past);
	struct cached_past *gone = NULL;
	size_t bytes = sizeof *k + past_weigh(past);

	mutex_lock(&cache->lock);
	k->in_use = false;
	cache->bytes += bytes - k->bytes;
	k->bytes = bytes;
	take_out_locked(cache, k);
	put_first_locked(cache, k);
	if (!is_good || bytes > cache->limit)
		drop_locked(cache, k, &gone);
	drop_excess_locked(cache, &gone);
	cond_wake_all(&cache->put);
	mutex_unlock(&cache->lock);
	free_list(gone);
}
