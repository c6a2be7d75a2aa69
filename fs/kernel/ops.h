/*
 * The FUSE side of the file system: ops*.c and request.c are all that knows FUSE.
 */
#ifndef FS_KERNEL_OPS_H
#define FS_KERNEL_OPS_H

#include "fs/tree/fs.h"

/* Mount at fs->mountpoint; fs->se is set. */
MUST_CHECK int ops_mount(struct fs *fs, const char *options, struct err *err);

/* Serve until the mount is gone or ops_exit(). */
MUST_CHECK int ops_serve(struct fs *fs, struct err *err);
void ops_exit(struct fs *fs);
void ops_unmount(struct fs *fs);

/*
 * Make the kernel drop what it knows: attributes of an inode (never blocks;
 * -ENOENT: it does not hold it, or was told of it and has not taken it in yet), ...
 */
MUST_CHECK int ops_drop_attributes(struct fs *fs, uint64_t ino);
/* ...a name in a directory, the pages of a file (may block: only the notifier calls them). */
void ops_drop_name(struct fs *fs, uint64_t parent, const char *name);
void ops_drop_pages(struct fs *fs, uint64_t ino);

#endif
