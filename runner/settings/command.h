/*
 * Commands that print a key. The shell runs them as the daemon's user, outside any
 * sandbox, with only the environment of process/env.h. The first line of the output
 * is the key.
 *
 * A key is kept for KEY_COMMAND_KEEP_MS. A caller that needs the key while its
 * command runs waits for that run. Each run has a thread of its own, so that a
 * cancelled caller ends no other caller's wait.
 */
#ifndef RUNNER_SETTINGS_COMMAND_H
#define RUNNER_SETTINGS_COMMAND_H

#include "base/cancel.h"

#define KEY_COMMAND_KEEP_MS    300000
#define KEY_COMMAND_TIMEOUT_MS 30000
#define KEY_COMMAND_KEY_MAX    16384 /* bytes */

/*
 * Give the key that a command prints; the caller frees it with secret_free(). refused: a key that
 * a service did not accept, so that the command must run again; NULL: none.
 *
 * Returns 0; -ECANCELED; -ETIMEDOUT; -EACCES: the command failed or wrote nothing that can be a
 * key; err says how, without its output; -ENOMEM; another -errno: the command cannot be started.
 * Any thread; blocks.
 */
MUST_CHECK int key_command_run(const char *command, const char *refused, struct cancel *cancel,
			       char **key, struct err *err);

/* End the running commands, wait for them, and forget all keys. At the end of the process. */
void key_command_exit(void);

#endif
