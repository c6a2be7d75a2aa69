/*
 * Parked requests: see park.h.
 */
#include "fs/tree/park.h"

#include "base/clock.h"

#include <errno.h>

static bool is_woken_locked(const struct park *park, const struct parked *p) REQUIRES(park->lock)
{
	unsigned i;

	if (park->woken_count > PARK_WOKEN_MAX)
		return true;
	for (i = 0; i < park->woken_count; i++) {
		if (park->woken[i] == p->session)
			return true;
	}
	return false;
}

/* The reason why p should try again; -1: no reason. */
static int reason_locked(const struct park *park, const struct parked *p, uint64_t now)
	REQUIRES(park->lock)
{
	if (park->stopping)
		return PARK_STOPPING;
	if (atomic_load(&p->interrupted))
		return PARK_INTERRUPTED;
	if (p->is_new || is_woken_locked(park, p))
		return PARK_MOVED;
	return p->deadline && p->deadline <= now ? PARK_TIMED_OUT : -1;
}

struct due {
	struct parked *p;
	enum park_reason reason;
};

#define DUE_MAX 256

/* Remove up to DUE_MAX requests that are due from the list. *again: there are more. */
static unsigned collect_locked(struct park *park, struct due *due, bool *again) REQUIRES(park->lock)
{
	uint64_t now = clock_monotonic();
	struct parked **at = &park->list;
	unsigned n = 0;

	*again = false;
	while (*at) {
		int reason = reason_locked(park, *at, now);

		if (reason < 0) {
			at = &(*at)->next;
			continue;
		}
		if (n == DUE_MAX) {
			*again = true;
			break;
		}
		(*at)->is_new = false;
		due[n].p = *at;
		due[n++].reason = (enum park_reason)reason;
		*at = (*at)->next;
	}
	if (!*again) {
		park->woken_count = 0;
		park->look = false;
	}
	return n;
}

static uint64_t first_deadline_locked(const struct park *park) REQUIRES(park->lock)
{
	const struct parked *p;
	uint64_t first = UINT64_MAX;

	for (p = park->list; p; p = p->next) {
		if (p->deadline && p->deadline < first)
			first = p->deadline;
	}
	return first;
}

static void wait_locked(struct park *park) REQUIRES(park->lock)
{
	uint64_t deadline = first_deadline_locked(park);

	if (park->woken_count || park->look || park->stopping)
		return;
	if (deadline == UINT64_MAX)
		cond_wait(&park->wake, &park->lock);
	else
		(void)cond_wait_until(&park->wake, &park->lock, deadline);
}

/* Let a request try; it goes back into the list if it must wait longer. */
static void try_again(struct park *park, struct due *due)
{
	bool done = due->p->again(due->p, due->reason);

	mutex_lock(&park->lock);
	if (done) {
		park->count--;
	} else {
		due->p->next = park->list;
		park->list = due->p;
	}
	mutex_unlock(&park->lock);
}

static void *park_thread(void *arg)
{
	struct park *park = arg;
	struct due due[DUE_MAX];
	bool done = false;
	bool again = false;

	while (!done) {
		unsigned n;
		unsigned i;

		mutex_lock(&park->lock);
		if (!again)
			wait_locked(park);
		n = collect_locked(park, due, &again);
		done = park->stopping && !n && !park->list;
		mutex_unlock(&park->lock);
		for (i = 0; i < n; i++)
			try_again(park, &due[i]);
	}
	return NULL;
}

int park_start(struct park *park, struct err *err)
{
	int r;

	mutex_init(&park->lock);
	cond_init(&park->wake);
	r = -pthread_create(&park->thread, NULL, park_thread, park);
	park->started = r == 0;
	return r < 0 ? err_errno(err, r, "starting a thread") : 0;
}

void park_stop(struct park *park)
{
	if (!park->started)
		return;
	mutex_lock(&park->lock);
	park->stopping = true;
	mutex_unlock(&park->lock);
	cond_wake_all(&park->wake);
	(void)pthread_join(park->thread, NULL);
	park->started = false;
}

static void note_woken_locked(struct park *park, uint64_t session) REQUIRES(park->lock)
{
	unsigned i;

	for (i = 0; i < park->woken_count && i < PARK_WOKEN_MAX; i++) {
		if (park->woken[i] == session)
			return;
	}
	if (park->woken_count < PARK_WOKEN_MAX)
		park->woken[park->woken_count] = session;
	if (park->woken_count <= PARK_WOKEN_MAX)
		park->woken_count++;
}

static int add_locked(struct park *park, struct parked *p, bool is_new) REQUIRES(park->lock)
{
	if (park->stopping)
		return -ESHUTDOWN;
	if (park->count >= PARK_MAX)
		return -EAGAIN;
	park->count++;
	park->look |= is_new;
	p->is_new = is_new;
	p->next = park->list;
	park->list = p;
	return 0;
}

int park_add(struct park *park, struct parked *p)
{
	int r;

	mutex_lock(&park->lock);
	r = add_locked(park, p, true);
	mutex_unlock(&park->lock);
	cond_wake_one(&park->wake);
	return r;
}

int park_add_quiet(struct park *park, struct parked *p)
{
	int r;

	mutex_lock(&park->lock);
	r = add_locked(park, p, false);
	mutex_unlock(&park->lock);
	return r;
}

void park_wake(struct park *park, uint64_t session)
{
	bool any;

	mutex_lock(&park->lock);
	any = park->count;
	if (any)
		note_woken_locked(park, session);
	mutex_unlock(&park->lock);
	if (any)
		cond_wake_one(&park->wake);
}

void park_interrupt(struct park *park, struct parked *p)
{
	mutex_lock(&park->lock);
	atomic_store(&p->interrupted, true);
	park->look = true;
	mutex_unlock(&park->lock);
	cond_wake_one(&park->wake);
}

void park_leave(struct park *park, const void *owner)
{
	struct parked *p;
	bool any = false;

	mutex_lock(&park->lock);
	for (p = park->list; p; p = p->next) {
		if (p->owner == owner) {
			atomic_store(&p->interrupted, true);
			any = true;
		}
	}
	park->look |= any;
	mutex_unlock(&park->lock);
	if (any)
		cond_wake_one(&park->wake);
}

unsigned park_count(struct park *park)
{
	unsigned count;

	mutex_lock(&park->lock);
	count = park->count;
	mutex_unlock(&park->lock);
	return count;
}
