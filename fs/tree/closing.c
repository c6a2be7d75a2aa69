/*
 * Closing: see closing.h. The list is short: one row for each close(2) whose
 * RELEASE is still to come.
 */
#include "fs/tree/closing.h"

#include "base/clock.h"
#include "base/mutex.h"

#include <stdatomic.h>
#include <stddef.h>

#define CLOSING_MAX 4096

static struct {
	struct mutex lock;
	struct closing_row {
		uint64_t object;
		uint64_t deadline;
	} rows[CLOSING_MAX];
	size_t used;
	atomic_size_t any; /* equal to used; read without the lock as a hint */
} closing = { .lock = MUTEX_INIT };

void closing_begin(uint64_t object)
{
	uint64_t deadline = clock_monotonic() + CLOSING_WAIT_MS * (uint64_t)NSEC_PER_MSEC;

	mutex_lock(&closing.lock);
	if (closing.used < CLOSING_MAX) /* if the list is full, opens just do not wait */
		closing.rows[closing.used++] = (struct closing_row){ object, deadline };
	atomic_store(&closing.any, closing.used);
	mutex_unlock(&closing.lock);
}

/* The first row of an object; NULL: the object has no row. */
static struct closing_row *find_locked(uint64_t object) REQUIRES(closing.lock)
{
	size_t i;

	for (i = 0; i < closing.used && closing.rows[i].object != object; i++)
		;
	return i < closing.used ? &closing.rows[i] : NULL;
}

void closing_end(uint64_t object)
{
	struct closing_row *row;

	mutex_lock(&closing.lock);
	row = find_locked(object);
	if (row)
		*row = closing.rows[--closing.used];
	atomic_store(&closing.any, closing.used);
	mutex_unlock(&closing.lock);
}

void closing_hold(uint64_t object)
{
	struct closing_row *row;

	mutex_lock(&closing.lock);
	row = find_locked(object);
	if (row)
		row->deadline = UINT64_MAX;
	mutex_unlock(&closing.lock);
}

uint64_t closing_deadline(uint64_t object)
{
	uint64_t deadline = 0;
	uint64_t now;
	size_t i;

	if (!object || !atomic_load(&closing.any))
		return 0;
	now = clock_monotonic();
	mutex_lock(&closing.lock);
	for (i = 0; i < closing.used; i++) {
		if (closing.rows[i].object == object && closing.rows[i].deadline > now &&
		    closing.rows[i].deadline > deadline)
			deadline = closing.rows[i].deadline;
	}
	mutex_unlock(&closing.lock);
	return deadline;
}
