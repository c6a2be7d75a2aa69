/*
 * Values: the settings of one place, by name. Values are secrets and are
 * overwritten before their memory is freed.
 */
#ifndef RUNNER_SETTINGS_VALUES_H
#define RUNNER_SETTINGS_VALUES_H

#include "base/buf.h"

/* All zero is an empty list. */
struct values {
	struct value *list;
	size_t count;
};

void values_release(struct values *values);

/* Set a value; a later value wins. -ENOMEM. */
MUST_CHECK int values_put(struct values *values, struct span name, struct span value);

/* The value of a name, borrowed until the next values_put(); NULL: none. */
const char *values_get(const struct values *values, const char *name);

/* Call fn with each name. Not 0 ends the loop and is returned. */
typedef int values_fn(void *arg, const char *name);
int values_each(const struct values *values, values_fn *fn, void *arg);

/*
 * Append the bytes of a regular file that holds values; errors call the file `name`.
 * -EINVAL: not a regular file; -EFBIG: over max; -ENOMEM; -errno.
 */
MUST_CHECK int values_read(int fd, const char *name, size_t max, struct buf *text, struct err *err);

#endif
