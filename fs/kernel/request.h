/*
 * Requests of the kernel: what the operations on names (names.c) and on files
 * (files.c) share, and the operations themselves, for the table in ops.c. Only
 * these files include FUSE's header.
 */
#ifndef FS_KERNEL_REQUEST_H
#define FS_KERNEL_REQUEST_H

#define FUSE_USE_VERSION FUSE_MAKE_VERSION(3, 12)

#include "fs/tree/handle.h"

#include <errno.h>
#include <fuse_lowlevel.h>

#define FOR_EVER 1e9
#define FLEETING 1.0 /* seconds; names that depend on something outside of the mount */

extern bool request_maps_direct; /* the kernel maps files that it keeps no bytes of */

static inline struct fs *request_fs(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

static inline uid_t request_caller(fuse_req_t req)
{
	return fuse_req_ctx(req)->uid;
}

static inline struct handle *request_handle(const struct fuse_file_info *fi)
{
	return (struct handle *)(uintptr_t)fi->fh;
}

/* NULL: the kernel asks for what it does not hold; the request is answered. */
struct inode *request_inode(fuse_req_t req, fuse_ino_t ino);

/* A request that waits, with what is needed to try it again. */
struct waiting {
	struct parked parked;
	fuse_req_t req;
	struct fs *fs;
	struct inode *inode;
	struct handle *handle;
	struct inode *new_dir; /* of a rename */
	char *name, *new_name; /* owned; NULL: it is about no name */
	struct fuse_file_info fi;
	unsigned flags;
	uint64_t offset;
	size_t size;
	bool (*answer)(struct waiting *w, enum park_reason reason);
};

/* Tell a refusal where people look for it. */
void request_report(struct fs *fs, const struct inode *inode, const char *child,
		    const struct err *err);

/* Reply with an error that a change was refused with. */
void request_refuse(fuse_req_t req, const struct inode *inode, const char *child, int r,
		    struct err *err);

/* Seconds for which the kernel may believe attributes, respectively a name. */
double request_attr_timeout(const struct place *at);
double request_name_timeout(const struct place *at);

/* A description that a listing has read already. */
struct known {
	const struct node_stat *st; /* NULL: none */
	uint64_t since;             /* inodes.changes before it was read */
};

/*
 * Enter a place and describe it for the kernel. Counts a lookup on success. A file with
 * NODE_LAZY gets attributes that are over at once, so that whoever needs them asks.
 *
 * @known NULL: the place is described now
 * Returns 0; -ENOMEM; an error of the row's stat.
 */
MUST_CHECK int request_enter(const struct place *at, uint64_t parent, const char *name,
			     const struct known *known, struct fuse_entry_param *e,
			     struct err *err);

/* The kernel takes over the lookup that request_enter() counted. */
void request_reply_entry(fuse_req_t req, const struct fuse_entry_param *e);

/* To who writes it, a file has the size that it will have. */
void request_show_draft(fuse_req_t req, const struct inode *inode, struct stat *st);

/* As they are now. */
void request_reply_attr(fuse_req_t req, const struct inode *inode);

/* Before any reply to a parked request: on_interrupt must not run on freed memory. */
void request_leave_park(struct waiting *w);

/* Park what `model` describes, with its names. On failure the request is answered. */
void request_park(const struct waiting *model, uint64_t deadline);

/*
 * Until when (monotonic ns) an open has to wait, for a message or for the file itself that is
 * being closed; 0: not at all.
 */
uint64_t request_wait_until(const struct inode *inode);

/* Whether a parked one still has to; its deadline is moved. */
bool request_must_wait(struct waiting *w, enum park_reason reason);

/* Who asks to make something. */
struct node_new request_maker(fuse_req_t req, mode_t mode);

/* The operations. */
void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name);
void op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t lookups);
void op_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets);
void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		struct fuse_file_info *fi);
void op_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		    struct fuse_file_info *fi);
void op_readlink(fuse_req_t req, fuse_ino_t ino);
void op_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode);
void op_unlink(fuse_req_t req, fuse_ino_t parent, const char *name);
void op_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name);
void op_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t new_parent,
	       const char *new_name, unsigned flags);
void op_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name);
void op_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t dev);
void op_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent, const char *name);
void op_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int set,
		struct fuse_file_info *fi);
void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void op_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
	       struct fuse_file_info *fi);
void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi);
void op_write(fuse_req_t req, fuse_ino_t ino, const char *data, size_t size, off_t offset,
	      struct fuse_file_info *fi);
void op_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void op_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi);
void op_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t offset, off_t length,
		  struct fuse_file_info *fi);
void op_lseek(fuse_req_t req, fuse_ino_t ino, off_t offset, int whence, struct fuse_file_info *fi);
void op_copy_file_range(fuse_req_t req, fuse_ino_t ino, off_t offset, struct fuse_file_info *fi,
			fuse_ino_t to_ino, off_t to_offset, struct fuse_file_info *to_fi,
			size_t len, int flags);
void op_poll(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct fuse_pollhandle *ph);

#endif
