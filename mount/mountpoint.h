/*
 * Mount points: what is there, and taking away what is dead.
 */
#ifndef MOUNT_MOUNTPOINT_H
#define MOUNT_MOUNTPOINT_H

#include "base/buf.h"

#include <stdbool.h>
#include <sys/types.h>

/* Whether a file system of ours is listed as mounted there. path is absolute. */
bool mountpoint_is_ours(const char *path);

/* Whether one is in the list at all, be it that something else lies on top of it. */
bool mountpoint_is_listed(const char *path);

/* The process that serves a mount of ours; 0: it does not answer. */
pid_t mountpoint_daemon(const char *path);

/*
 * Make sure that something can be mounted at path: an empty directory. A
 * mount of ours whose daemon has died is taken away.
 * 0; -ENOENT, -ENOTDIR, -ENOTEMPTY, -EBUSY (a mount of ours that works), -errno.
 */
MUST_CHECK int mountpoint_prepare(const char *path, struct err *err);

enum detach { DETACH_IF_UNUSED, DETACH_ANYWAY };

/* Unmount. -EBUSY: files are open there. */
MUST_CHECK int mountpoint_detach(const char *path, enum detach how, struct err *err);

/* The absolute form of a path whose last component need not answer (a dead mount). */
MUST_CHECK int mountpoint_resolve(const char *path, struct buf *out, struct err *err);

#endif
