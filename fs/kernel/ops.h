/*
 * The FUSE side of the file system: ops*.c and request.c are all that knows FUSE.
 */
#ifndef FS_KERNEL_OPS_H
#define FS_KERNEL_OPS_H

#include "fs/tree/fs.h"

/* Mount at fs->mountpoint with fs->fuse_options, and set fs->se. root: the row of the root. */
MUST_CHECK int ops_mount(struct fs *fs, const struct node_type *root, struct err *err);

/* Serve until the mount is gone or ops_exit(). */
MUST_CHECK int ops_serve(struct fs *fs, struct err *err);
void ops_exit(struct fs *fs);
void ops_unmount(struct fs *fs);

/* For notify_start(), with the fs as its argument: what makes the kernel forget. */
extern const struct notify_kernel ops_kernel;

#endif
