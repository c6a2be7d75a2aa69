/*
 * Environments of children: what they are given, and nothing else of ours.
 */
#ifndef RUNNER_PROCESS_ENV_H
#define RUNNER_PROCESS_ENV_H

#include "base/cc.h"

#include <stddef.h>

struct childenv {
	char **list; /* NAME=VALUE, ends with NULL; NULL while there is nothing */
	size_t n;
};

/* Add a variable. Of several with one name the first stays. -ENOMEM. */
MUST_CHECK int childenv_add(struct childenv *env, const char *name, const char *value);

/*
 * Add what every program can rely on: PATH, HOME, LANG and TMPDIR as the daemon
 * has them, else the usual ones (no HOME). -ENOMEM.
 */
MUST_CHECK int childenv_add_base(struct childenv *env);

/* The value of a variable, NULL without it. */
const char *childenv_get(const struct childenv *env, const char *name);

void childenv_release(struct childenv *env);

#endif
