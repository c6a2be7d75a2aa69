/*
 * Mount points: what is mounted there, and unmounting.
 */
#ifndef MOUNT_MOUNTPOINT_H
#define MOUNT_MOUNTPOINT_H

#include "base/buf.h"

#include <stdbool.h>
#include <sys/types.h>

/* True if the topmost mount at an absolute path is an adkfs, dead or alive. */
bool mountpoint_is_ours(const char *path);

/* True if an adkfs is mounted at path, even below another mount. */
bool mountpoint_is_listed(const char *path);

/* The process id of the daemon of a mount; 0: the daemon does not answer. */
pid_t mountpoint_daemon(const char *path);

/*
 * Check that path is an empty directory, at which something can be mounted. If a
 * dead adkfs is mounted there, unmount it first.
 * Returns 0; -ENOENT; -ENOTDIR; -ENOTEMPTY; -EBUSY: an adkfs that works is
 * mounted there; -errno.
 */
MUST_CHECK int mountpoint_prepare(const char *path, struct err *err);

enum detach { DETACH_IF_UNUSED, DETACH_ANYWAY };

/* Unmount. -EBUSY: files are open there, and how is DETACH_IF_UNUSED. */
MUST_CHECK int mountpoint_detach(const char *path, enum detach how, struct err *err);

/* Append the absolute form of a path. Its last component may be a dead mount. */
MUST_CHECK int mountpoint_resolve(const char *path, struct buf *out, struct err *err);

#endif
