/*
 * Time and ids.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

#define NSEC_PER_SEC  1000000000u
#define NSEC_PER_MSEC 1000000u
#define USEC_PER_SEC  1000000

/* Nanoseconds of a clock that never jumps. Use it for deadlines and durations. */
uint64_t clock_monotonic(void);

/* Nanoseconds that this thread has run on a processor. */
uint64_t clock_thread(void);

/* Microseconds since 1970 UTC. */
int64_t clock_now(void);

/*
 * Nanoseconds since 1970 UTC. Each stamp is larger than all earlier ones of
 * this process, so use stamps for the times of files: when a file's time is
 * unchanged, the kernel believes that its content is too. Any thread.
 */
uint64_t clock_stamp(void);

/* Write prefix, a random UUID in lower case and NUL: strlen(prefix) + 37 bytes. */
void clock_new_id(char *out, const char *prefix);

#endif
