/*
 * Times: see time.h.
 */
#include "store/json/time.h"

#include "base/json_text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define TIME_LIMIT_SECONDS 1e11L              /* the limit of a time in seconds */
#define TIME_MILLISECONDS  100000000000000000 /* 1e11 s: more can only be milliseconds */

int time_parse(struct span token, int64_t *usec)
{
	char text[JSON_NUMBER_MAX + 1];
	char *end;
	long double value;
	long double micro; /* may not fit an integer yet */

	if (!token.len || token.len >= sizeof text)
		return -EINVAL;
	memcpy(text, token.data, token.len);
	text[token.len] = 0;
	if (strspn(text, "0123456789.eE+-") != token.len || strchr("+.eE", text[0]))
		return -EINVAL;
	value = strtold(text, &end);
	if (*end || !(value >= 0 && value < TIME_LIMIT_SECONDS * 1000))
		return -EINVAL;
	/* Test the rounded number: a line that adkfs wrote must give the same time again. */
	micro = roundl(value * 1e6L);
	if (micro >= TIME_MILLISECONDS)
		micro = roundl(value * 1e3L);
	if (micro >= TIME_MILLISECONDS)
		return -EINVAL;
	*usec = (int64_t)micro;
	return 0;
}

void time_print(struct buf *out, int64_t usec)
{
	buf_printf(out, "%lld.%06lld", (long long)(usec / 1000000), (long long)(usec % 1000000));
}
