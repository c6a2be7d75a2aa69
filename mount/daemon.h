/*
 * The process of the daemon: it goes to the background, and ends on a signal.
 */
#ifndef MOUNT_DAEMON_H
#define MOUNT_DAEMON_H

#include "base/err.h"

/*
 * Fork. Returns in the child only, with a descriptor for daemon_ready(). The
 * parent waits and exits: with 0 after daemon_ready(), or with the exit status
 * of a child that ended before. Call this before any thread exists.
 */
MUST_CHECK int daemon_fork(struct err *err);

/* In the child, when it serves: let the parent exit, and leave the terminal. */
void daemon_ready(int fd);

/*
 * Watch for SIGINT, SIGTERM and SIGHUP. A thread waits for the first of them,
 * calls stop(arg) and then interrupts the system call of the thread that called
 * daemon_watch_signals().
 */
MUST_CHECK int daemon_watch_signals(void (*stop)(void *arg), void *arg, struct err *err);

/*
 * Watch the mount at path. A thread calls gone(arg) once the mount is no longer
 * listed there. The file system itself may live longer: while files in it are
 * open, and while a sandbox shows a part of it to a program.
 */
MUST_CHECK int daemon_watch_mount(const char *path, void (*gone)(void *arg), void *arg,
				  struct err *err);

/* End both watches: when this returns, stop(arg) and gone(arg) do not run and are not called. */
void daemon_ignore_signals(void);

/* Block the signals of daemon_watch_signals() in this thread, and in those that it starts later. */
void daemon_block_signals(void);

/*
 * Raise the limit of open files to the hard limit, but not above DAEMON_FILES_MAX. A running turn
 * needs a few files, and the usual limit is 1024. If that fails, the limit stays as it is.
 */
#define DAEMON_FILES_MAX 65536
void daemon_allow_files(void);

#endif
