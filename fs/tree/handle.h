/*
 * Handles: open file descriptions.
 */
#ifndef FS_TREE_HANDLE_H
#define FS_TREE_HANDLE_H

#include "base/mutex.h"
#include "fs/tree/fs.h"

#include <fcntl.h>

struct live;

struct handle {
	/* fixed after open */
	struct inode *inode;        /* the kernel holds it while the file is open */
	struct place at;            /* its place; borrowed texts */
	int flags;                  /* of open(2) */
	uid_t caller;               /* who opened it */
	const struct file_ops *ops; /* NULL: only read, through the row */
	bool created;               /* this open made the name */
	bool direct;                /* read around the page cache: one text, as of offset 0 */
	pid_t pid;                  /* the thread that opened it */
	atomic_bool is_open;        /* open(2) is through: handle_each() may look at it */
	atomic_bool is_left;        /* no descriptor is left: what it wrote is being saved */

	/* A file that is made in one place and written through another (user:x in a session). */
	struct ref via; /* session; 0: not so */
	char *via_name; /* key or file name there, with its prefix */

	struct handle *prev; /* all that are open; guarded by fs.handles_lock */
	struct handle *next;

	/* Requests on one handle may come on several threads at once. */
	struct mutex lock;
	void *state GUARDED_BY(lock);     /* of ops */
	struct live *live;                /* streams: the turn that is followed; fixed after open */
	struct buf text GUARDED_BY(lock); /* streams: all there is; files: what was shown */
	_Atomic uint64_t position;        /* streams: end of the last read; poll asks from here */
	atomic_bool polled;               /* something may be parked for poll(2) */
	bool has_text GUARDED_BY(lock);
	uint64_t text_change GUARDED_BY(lock); /* of the inode, when the text was shown */
};

struct handle *handle_new(struct inode *inode, int flags, uid_t caller);
void handle_free(struct handle *h);

/* Let go of a handle as its last descriptor does. err.code is set when that was refused. */
void handle_close(struct handle *h, struct err *err);

#define HANDLES_ALL 0 /* in place of an inode's number */

/* Call fn for each handle of an inode that is_open, the latest first. fn does not wait. */
typedef void handle_fn(struct handle *h, void *arg);
void handle_each(struct fs *fs, uint64_t ino, handle_fn *fn, void *arg);

/* From now on handle_each() passes it by: its state is about to go. */
void handle_leave(struct handle *h);

/* The file was removed: nothing comes of what is written by opens that store it with their close.
 */
void handle_removed(struct fs *fs, uint64_t ino);

/*
 * The inode number of a name that an open made and that its close will store; 0: there is no
 * such file. dir: the directory's inode number.
 */
uint64_t handle_find_made(struct fs *fs, uint64_t dir, const char *name);

/* Remove such a file. False: there is none. */
bool handle_remove_made(struct fs *fs, uint64_t dir, const char *name);

/* When the mount is gone: the kernel will not close what is left any more. */
void handle_close_all(struct fs *fs);

/* O_RDONLY | O_TRUNC cuts the file off, as on any file system of Linux. */
static inline bool handle_writes(const struct handle *h)
{
	return (h->flags & O_ACCMODE) != O_RDONLY || (h->flags & O_TRUNC);
}

static inline uint64_t handle_position(const struct handle *h)
{
	return h->position;
}

/* Read a range of a file that is shown as a whole. */
MUST_CHECK int handle_read_shown(struct handle *h, uint64_t offset, size_t size, struct buf *out,
				 struct err *err);

/* The directory (app, user, session) that its errors are told in, and its name there. */
uint64_t handle_error_place(const struct place *at);
void handle_error_name(struct fs *fs, const struct inode *inode, const char *child,
		       struct buf *out);

#endif
