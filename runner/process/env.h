/*
 * Environments of children. A child gets only the variables that are added here.
 */
#ifndef RUNNER_PROCESS_ENV_H
#define RUNNER_PROCESS_ENV_H

#include "base/cc.h"

#include <stddef.h>

struct childenv {
	char **list; /* NAME=VALUE, ends with NULL; NULL while it is empty */
	size_t n;
};

/* Add a variable, unless its name is there already. 0 or -ENOMEM. */
MUST_CHECK int childenv_add(struct childenv *env, const char *name, const char *value);

/*
 * Add PATH, HOME, LANG and TMPDIR with the daemon's values. A variable that the
 * daemon lacks gets its usual value, except HOME, which stays unset. 0 or -ENOMEM.
 */
MUST_CHECK int childenv_add_base(struct childenv *env);

/* The value of a variable in a list that ends with NULL, or in no list (NULL). NULL: unset. */
const char *childenv_get(char *const *list, const char *name);

void childenv_release(struct childenv *env);

#endif
