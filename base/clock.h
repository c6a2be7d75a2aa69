/*
 * Time and ids.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

#define NSEC_PER_SEC  1000000000u
#define NSEC_PER_MSEC 1000000u
#define USEC_PER_SEC  1000000

/* Nanoseconds of a clock that never jumps; for deadlines and durations. */
uint64_t clock_monotonic(void);

/* Nanoseconds that this thread has had of a processor. */
uint64_t clock_thread(void);

/* Microseconds since 1970 UTC, as in an event's timestamp. */
int64_t clock_now(void);

/*
 * Nanoseconds since 1970 UTC, later than every stamp given before in this
 * process. Times of files come from here: the kernel takes an equal time for
 * an unchanged file. Any thread.
 */
uint64_t clock_stamp(void);

/* prefix + UUID version 4, lower case, and NUL: strlen(prefix) + 37 bytes. */
void clock_new_id(char *out, const char *prefix);

#endif
