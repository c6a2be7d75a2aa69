/*
 * The paths of the agents' `.env` files. Keys are in these files, so the files are
 * hidden from programs that see the rest of the machine.
 */
#ifndef RUNNER_PROCESS_ENV_FILES_H
#define RUNNER_PROCESS_ENV_FILES_H

#include "base/buf.h"

#define ENVFILES_MAX 1000 /* hiding each costs a mount */

/*
 * Append the path of each `.env` file that exists now, links resolved, each path
 * with its NUL: first the one in `folder`, then the one in `agents` (NULL: none),
 * then those in the folders in `agents`. At most ENVFILES_MAX. 0 or -ENOMEM.
 */
MUST_CHECK int envfiles_find(const char *folder, const char *agents, struct buf *out);

#endif
