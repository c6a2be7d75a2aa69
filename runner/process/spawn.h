/*
 * Spawning: a program becomes a child of this process.
 *
 * The child leads a session and a process group of its own, so it has no
 * terminal. The caller gives the whole environment and all descriptors of the child.
 * The child's signals have their defaults. The child writes no core dumps, has the
 * umask of this process, and may open SPAWN_FILES_MAX files unless it raises that limit
 * itself.
 */
#ifndef RUNNER_PROCESS_SPAWN_H
#define RUNNER_PROCESS_SPAWN_H

#include "base/cc.h"

#include <stdbool.h>
#include <sys/types.h>

#define SPAWN_FILES_MAX 1024 /* or the limit of this process, if that is less */

enum { SPAWN_IN, SPAWN_OUT, SPAWN_ERR, SPAWN_NEWS, SPAWN_FILTER, SPAWN_FDS };

struct spawn {
	/* borrowed */
	const char *program; /* absolute */
	char *const *argv;   /* ends with NULL */
	char *const *env;    /* NAME=VALUE, ends with NULL */
	const char *folder;  /* working directory */

	int fds[SPAWN_FDS]; /* become 0 to 4 in the child; the last two may be -1: none */
	bool may_gain;      /* may gain privileges by exec, as set-user-ID programs do */
	bool stays;         /* gets a KILL when the thread that started it ends */
};

/*
 * Start the program. *pid is the number of its session and its group, too.
 * Returns 0; -errno of what failed, exec included: there is no child then. Any
 * thread.
 */
MUST_CHECK int spawn_start(const struct spawn *s, pid_t *pid);

#endif
