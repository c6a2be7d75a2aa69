/*
 * Requests of the kernel: functions that the operations on names (names.c), on files
 * (files.c) and on open files (io.c) share, and the operations themselves, for ops.c.
 * Only these files and ops.c include FUSE's header.
 */
#ifndef FS_KERNEL_REQUEST_H
#define FS_KERNEL_REQUEST_H

#define FUSE_USE_VERSION FUSE_MAKE_VERSION(3, 12)

#include "fs/tree/handle.h"

#include <errno.h>
#include <fuse_lowlevel.h>

#define FOR_EVER 1e9

extern bool request_maps_direct; /* the kernel can map direct_io files; set at INIT */

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

/* The inode of a request. NULL: the kernel does not hold it; the request is answered. */
struct inode *request_inode(fuse_req_t req, fuse_ino_t ino);

/* A parked request, with all that is needed to try again. */
struct waiting {
	struct parked parked;
	fuse_req_t req;
	struct fs *fs;
	struct inode *inode;
	struct handle *handle;
	struct inode *new_dir; /* for a rename */
	char *name, *new_name; /* owned; NULL: the request has no name */
	struct fuse_file_info fi;
	unsigned flags;
	uint64_t offset;
	size_t size;
	/* Answer the request; false: keep waiting. Calls request_leave_park() before a reply. */
	bool (*answer)(struct waiting *w, enum park_reason reason);
	void (*reply)(struct waiting *w); /* called when the request may go on */
};

/* Report an error in the .errors of an inode's place. child: a name in the inode; may be NULL. */
void request_report(struct fs *fs, const struct inode *inode, const char *child,
		    const struct err *err);

/* Report an error in .errors and reply with its errno r (-ENODATA becomes EINVAL). */
void request_refuse(fuse_req_t req, const struct inode *inode, const char *child, int r,
		    struct err *err);

/* The seconds for which the kernel may cache the attributes or the name of a place. */
double request_attr_timeout(const struct place *at);
double request_name_timeout(const struct place *at);

/* Attributes that a listing has read already. */
struct known {
	const struct node_stat *st; /* NULL: not read */
	uint64_t since;             /* inodes.changes before st was read */
};

/*
 * Enter the inode of a place and fill in *e for the kernel. Counts a lookup on success. The
 * attributes of a NODE_LAZY file expire at once, so that the kernel asks when they are needed.
 *
 * @known NULL: ask the row for the attributes
 * Returns 0; -ENOMEM; -errno of the row's stat.
 */
MUST_CHECK int request_enter(const struct place *at, uint64_t parent, const char *name,
			     const struct known *known, struct fuse_entry_param *e,
			     struct err *err);

/* Reply to a lookup; if the reply fails, take back the lookup that request_enter() counted. */
void request_reply_entry(fuse_req_t req, const struct fuse_entry_param *e);

/* If the caller's process is writing the file, set *st to the size of its draft. */
void request_show_draft(fuse_req_t req, const struct inode *inode, struct stat *st);

/* Reply with the present attributes of an inode. */
void request_reply_attr(fuse_req_t req, const struct inode *inode);

/* End the interrupts of a parked request. Must be called before the reply, which frees req. */
void request_leave_park(struct waiting *w);

/*
 * Park a copy of *model until deadline (monotonic ns; 0: for ever). The names of the model are
 * owned by the park from here on. On failure the request is answered with an error.
 */
void request_park(const struct waiting *model, uint64_t deadline);

/*
 * The time (monotonic ns) until which an open of the inode must wait for a close: of its
 * session's message, or of the file itself. 0: no wait.
 */
uint64_t request_wait_until(const struct inode *inode);

/* Whether a parked open must wait longer; if so, its deadline is updated. */
bool request_must_wait(struct waiting *w, enum park_reason reason);

/*
 * Call w->reply now, or on the thread of the park when a close is over that the request must wait
 * for. deadline: of request_wait_until() or closing_deadline(). An interrupted request is answered
 * with EINTR.
 */
void request_after_close(struct waiting *w, uint64_t deadline);

/* The caller of a request that makes something, with the mode. */
struct node_new request_maker(fuse_req_t req, mode_t mode);

/* The operations; ops.c has their table. */
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
