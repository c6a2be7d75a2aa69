/*
 * The process: going to the background, and ending on a signal.
 */
#ifndef MOUNT_DAEMON_H
#define MOUNT_DAEMON_H

#include "base/err.h"

/*
 * Fork. In the child returns a descriptor for daemon_ready(); the parent
 * waits for it and exits: with 0, or with the status that the child ends with.
 * Call before any thread exists.
 */
MUST_CHECK int daemon_fork(struct err *err);

/* The child serves: let the parent go, leave the terminal. */
void daemon_ready(int fd);

/*
 * Call stop(arg) on SIGINT, SIGTERM or SIGHUP, from a thread of its own; then
 * wake the calling thread out of what it waits in. Call before other threads.
 */
MUST_CHECK int daemon_watch_signals(void (*stop)(void *arg), void *arg, struct err *err);

/*
 * Call gone(arg) once the mount at path is not in its place any more, from a
 * thread of its own. A file system can live on behind that: while files are
 * open in it, and while a sandbox shows parts of it to a program.
 */
MUST_CHECK int daemon_watch_mount(const char *path, void (*gone)(void *arg), void *arg,
				  struct err *err);

/* stop(arg) and gone(arg) are not called any more, and not running, when this returns. */
void daemon_ignore_signals(void);

/* Block the signals that daemon_watch_signals() waits for, in all threads made from here on. */
void daemon_block_signals(void);

/*
 * Allow this process as many open files as the hard limit does, at most DAEMON_FILES_MAX: a turn
 * that runs needs a few of them, and the usual soft limit is 1024. What cannot be stays as it is.
 */
#define DAEMON_FILES_MAX 65536
void daemon_allow_files(void);

#endif
