/*
 * Time and ids: see clock.h.
 */
#include "base/clock.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <uuid/uuid.h>

static uint64_t read_clock(clockid_t which)
{
	struct timespec ts;

	(void)clock_gettime(which, &ts); /* cannot fail for the clocks used here */
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

uint64_t clock_monotonic(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t clock_thread(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

int64_t clock_now(void)
{
	return (int64_t)(read_clock(CLOCK_REALTIME) / 1000);
}

uint64_t clock_stamp(void)
{
	static _Atomic uint64_t last; /* pairs with itself: each stamp is larger than the last */
	uint64_t now = read_clock(CLOCK_REALTIME);
	uint64_t seen = atomic_load(&last);
	uint64_t next;

	do {
		next = now > seen ? now : seen + 1;
	} while (!atomic_compare_exchange_weak(&last, &seen, next));
	return next;
}

/* Random bytes. The kernel is asked for those of many ids at once. */
static void random_bytes(unsigned char *out, size_t len)
{
	static _Thread_local unsigned char pool[1024];
	static _Thread_local size_t left;

	if (left < len) {
		if (getrandom(pool, sizeof pool, 0) != (ssize_t)sizeof pool)
			abort(); /* cannot happen for so few bytes */
		left = sizeof pool;
	}
	left -= len;
	memcpy(out, pool + left, len);
	memset(pool + left, 0, len);
}

void clock_new_id(char *out, const char *prefix)
{
	size_t n = strlen(prefix);
	uuid_t id;

	random_bytes(id, sizeof id);
	id[6] = (unsigned char)((id[6] & 0x0f) | 0x40); /* version 4 */
	id[8] = (unsigned char)((id[8] & 0x3f) | 0x80); /* the variant of RFC 4122 */
	memcpy(out, prefix, n);
	uuid_unparse_lower(id, out + n);
}
