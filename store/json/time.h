/*
 * Times: numbers of seconds since 1970 in ADK's JSON, microseconds in the program.
 */
#ifndef STORE_JSON_TIME_H
#define STORE_JSON_TIME_H

#include "base/buf.h"

/* Parse a number of seconds. A number too large for that is milliseconds, as JavaScript has.
 * -EINVAL. */
MUST_CHECK int time_parse(struct span token, int64_t *usec);

/* Append a time in seconds, with six decimals. */
void time_print(struct buf *out, int64_t usec);

#endif
