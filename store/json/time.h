/*
 * Times in ADK's JSON: seconds since 1970, as numbers. In the program they are microseconds.
 */
#ifndef STORE_JSON_TIME_H
#define STORE_JSON_TIME_H

#include "base/buf.h"

/* Parse a number token of seconds, or of JavaScript's milliseconds. -EINVAL. */
MUST_CHECK int time_parse(struct span token, int64_t *usec);

/* Append a time in seconds, with six decimals. */
void time_print(struct buf *out, int64_t usec);

#endif
