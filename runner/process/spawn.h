/*
 * Spawning: a program becomes a child of this process.
 *
 * The child leads a session and a process group of its own, so that it has no
 * terminal. It gets the environment and the descriptors it is given and
 * nothing else, default signals, no core dumps, at most SPAWN_FILES_MAX open
 * files unless it raises that itself, and the umask of this process.
 */
#ifndef RUNNER_PROCESS_SPAWN_H
#define RUNNER_PROCESS_SPAWN_H

#include "base/cc.h"

#include <stdbool.h>
#include <sys/types.h>

#define SPAWN_FILES_MAX 1024 /* or what this process may have, if that is less */

enum { SPAWN_IN, SPAWN_OUT, SPAWN_ERR, SPAWN_NEWS, SPAWN_FILTER, SPAWN_FDS };

struct spawn {
	/* borrowed */
	const char *program; /* absolute */
	char *const *argv;   /* ends with NULL */
	char *const *env;    /* NAME=VALUE, ends with NULL */
	const char *folder;  /* working directory */

	int fds[SPAWN_FDS]; /* become 0 to 4 in the child; from the fourth on -1: none */
	bool may_gain;      /* privileges by exec, as of set-user-ID programs */
	bool stays;         /* not beyond the thread that starts it: it gets a KILL */
};

/*
 * Start it. *pid also is the number of its session and its group. Returns 0;
 * -errno of what failed, exec included: there is no child then. Any thread.
 */
MUST_CHECK int spawn_start(const struct spawn *s, pid_t *pid);

#endif
