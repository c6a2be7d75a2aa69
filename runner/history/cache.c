/*
 * Pasts that are kept: see cache.h.
 */
#include "runner/history/cache.h"

#include <stdlib.h>

struct kept_past {
	struct past past;
	struct kept_past *next; /* in its bucket */
	struct kept_past *newer;
	struct kept_past *older;
	size_t bytes;
	bool in_use;
};

void pasts_init(struct pasts *ps, size_t limit)
{
	*ps = (struct pasts){ .limit = limit };
	mutex_init(&ps->lock);
	cond_init(&ps->given);
}

static struct kept_past **slot_locked(struct pasts *ps, uint64_t session) REQUIRES(ps->lock)
{
	struct kept_past **at = &ps->bucket[session % PASTS_BUCKETS];

	while (*at && (*at)->past.session.session != session)
		at = &(*at)->next;
	return at;
}

static void put_first_locked(struct pasts *ps, struct kept_past *k) REQUIRES(ps->lock)
{
	k->newer = NULL;
	k->older = ps->newest;
	*(ps->newest ? &ps->newest->newer : &ps->oldest) = k;
	ps->newest = k;
}

static void take_out_locked(struct pasts *ps, struct kept_past *k) REQUIRES(ps->lock)
{
	*(k->newer ? &k->newer->older : &ps->newest) = k->older;
	*(k->older ? &k->older->newer : &ps->oldest) = k->newer;
}

/* It is not found any more, and the next one in *gone. */
static void drop_locked(struct pasts *ps, struct kept_past *k, struct kept_past **gone)
	REQUIRES(ps->lock)
{
	*slot_locked(ps, k->past.session.session) = k->next;
	take_out_locked(ps, k);
	ps->bytes -= k->bytes;
	k->next = *gone;
	*gone = k;
}

static void drop_excess_locked(struct pasts *ps, struct kept_past **gone) REQUIRES(ps->lock)
{
	struct kept_past *k = ps->oldest;

	while (k && ps->bytes > ps->limit) {
		struct kept_past *newer = k->newer;

		if (!k->in_use)
			drop_locked(ps, k, gone);
		k = newer;
	}
}

static void free_list(struct kept_past *list)
{
	while (list) {
		struct kept_past *next = list->next;

		past_release(&list->past);
		free(list);
		list = next;
	}
}

void pasts_release(struct pasts *ps) NO_THREAD_ANALYSIS /* nobody else is left */
{
	size_t i;

	for (i = 0; i < PASTS_BUCKETS; i++)
		free_list(ps->bucket[i]);
	cond_release(&ps->given);
	mutex_release(&ps->lock);
}

static struct kept_past *new_locked(struct pasts *ps, struct store *st, struct ref session)
	REQUIRES(ps->lock)
{
	struct kept_past **at = slot_locked(ps, session.session);
	struct kept_past *k = calloc(1, sizeof *k);

	if (!k)
		return NULL;
	k->past = (struct past){ .st = st, .session = session, .keeps = true };
	*at = k;
	put_first_locked(ps, k);
	return k;
}

int pasts_take(struct pasts *ps, struct store *st, struct ref session, struct past **out,
	       struct err *err)
{
	struct kept_past *k;

	mutex_lock(&ps->lock);
	while ((k = *slot_locked(ps, session.session)) && k->in_use)
		cond_wait(&ps->given, &ps->lock);
	if (!k)
		k = new_locked(ps, st, session);
	if (k)
		k->in_use = true;
	mutex_unlock(&ps->lock);
	if (!k)
		return err_nomem(err);
	*out = &k->past;
	return 0;
}

void pasts_give(struct pasts *ps, struct past *past, bool is_good)
{
	struct kept_past *k = CONTAINER_OF(past, struct kept_past, past);
	struct kept_past *gone = NULL;
	size_t bytes = sizeof *k + past_weigh(past);

	mutex_lock(&ps->lock);
	k->in_use = false;
	ps->bytes += bytes - k->bytes;
	k->bytes = bytes;
	take_out_locked(ps, k);
	put_first_locked(ps, k);
	if (!is_good || bytes > ps->limit)
		drop_locked(ps, k, &gone);
	drop_excess_locked(ps, &gone);
	cond_wake_all(&ps->given);
	mutex_unlock(&ps->lock);
	free_list(gone);
}
