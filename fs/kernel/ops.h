/*
 * Ops: the connection to the kernel. Only the files of this folder know FUSE.
 */
#ifndef FS_KERNEL_OPS_H
#define FS_KERNEL_OPS_H

#include "fs/tree/fs.h"

/*
 * Mount at fs->mountpoint with fs->fuse_options, and set fs->se. root: the row of the root.
 * Returns 0; -ENOMEM; -EINVAL: bad options; -EIO: the mount was refused. After a failure
 * ops_unmount() still has to be called.
 */
MUST_CHECK int ops_mount(struct fs *fs, const struct node_type *root, struct err *err);

/* Serve requests on fs->threads threads until the mount is gone or ops_exit(). */
MUST_CHECK int ops_serve(struct fs *fs, struct err *err);
/* End ops_serve(). Any thread; does not block. */
void ops_exit(struct fs *fs);
/* Unmount, if mounted, and free fs->se. Does nothing before ops_mount(). */
void ops_unmount(struct fs *fs);

/* The functions for notify_start() that make the kernel forget; their arg is the struct fs. */
extern const struct notify_kernel ops_kernel;

#endif
