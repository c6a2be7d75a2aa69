/*
 * Commands that print a key: run by the shell, as the daemon's user, outside
 * any sandbox, with the environment that every program of ours gets (process/env.h)
 * and nothing else. The first line of the output is the key.
 *
 * A key is kept for KEY_COMMAND_KEEP_MS. Whoever needs it while its command
 * runs waits for that run; each run has a thread of its own, so that no wait
 * depends on another's being cancelled.
 */
#ifndef RUNNER_SETTINGS_COMMAND_H
#define RUNNER_SETTINGS_COMMAND_H

#include "base/cancel.h"

#define KEY_COMMAND_KEEP_MS    300000
#define KEY_COMMAND_TIMEOUT_MS 30000
#define KEY_COMMAND_KEY_MAX    16384 /* bytes */

/*
 * The key that a command gives, to be freed. refused: one that was not accepted
 * and is not to be given again without another run; NULL: none.
 *
 * Returns 0; -ECANCELED; -ETIMEDOUT; -EACCES: it failed or gave nothing that
 * can be a key, err says how and not what it wrote; -ENOMEM; another -errno of
 * starting it. Any thread; blocks.
 */
MUST_CHECK int key_command_run(const char *command, const char *refused, struct cancel *cancel,
			       char **key, struct err *err);

/* End what runs, wait for it, and forget all keys. At the end of the process. */
void key_command_exit(void);

#endif
