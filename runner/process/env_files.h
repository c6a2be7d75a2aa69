/*
 * The `.env` files of the agents, which hold keys: where they are, to hide them
 * from programs that may see the rest of the machine.
 */
#ifndef RUNNER_PROCESS_ENV_FILES_H
#define RUNNER_PROCESS_ENV_FILES_H

#include "base/buf.h"

#define ENVFILES_MAX 1000 /* each costs a mount */

/*
 * Append the paths of those that are there now, links resolved, each with its
 * NUL: of an agent's folder, then of the folder of all agents (or NULL), then of
 * the others in it. At most ENVFILES_MAX. 0; -ENOMEM.
 */
MUST_CHECK int envfiles_find(const char *folder, const char *agents, struct buf *out);

#endif
