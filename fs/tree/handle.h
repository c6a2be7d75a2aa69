/*
 * Handles: one for each open file description of the mount.
 */
#ifndef FS_TREE_HANDLE_H
#define FS_TREE_HANDLE_H

#include "base/mutex.h"
#include "fs/tree/fs.h"

#include <fcntl.h>

struct live;

struct handle {
	/* fixed after open */
	struct inode *inode; /* the kernel holds it while the file is open */
	struct place at;     /* the inode's place at the open; texts borrowed from the inode */
	int flags;           /* flags of open(2) */
	uid_t caller;        /* the user that opened the file */
	const struct file_ops *ops; /* NULL: read-only, by the functions of the row */
	bool created;               /* this open made the name */
	bool direct;         /* reads bypass the page cache: one text, as of the read at offset 0 */
	pid_t pid;           /* the thread that opened the file */
	atomic_bool is_open; /* open(2) has returned: handle_each() visits the handle */
	atomic_bool is_left; /* no descriptor is left: the written bytes are being saved */

	/* For a file in one scope that is written through another (user:x in a session). */
	struct ref via; /* the session; all 0: the file's own scope */
	char *via_name; /* key or file name in the session, with its prefix */

	struct handle *prev; /* list of all handles; guarded by fs.handles_lock */
	struct handle *next;

	/* Requests on one handle may come on several threads at once. */
	struct mutex lock;
	void *state GUARDED_BY(lock); /* belongs to ops */
	struct live *live;            /* streams: the turn to follow; fixed after open */
	struct buf text
		GUARDED_BY(lock);  /* streams: all bytes so far; files: the text that was shown */
	_Atomic uint64_t position; /* streams: end of the last read; poll(2) starts here */
	atomic_bool polled;        /* a request of poll(2) may be parked */
	bool has_text GUARDED_BY(lock);
	uint64_t text_change GUARDED_BY(lock); /* the inode's change when the text was shown */
};

/* A new handle in the mount's list. NULL: out of memory. */
struct handle *handle_new(struct inode *inode, int flags, uid_t caller);
/* Free a handle without its ops' release(). NULL is fine. */
void handle_free(struct handle *h);

/* Release and free a handle after its last close. err is set when the release was refused. */
void handle_close(struct handle *h, struct err *err);

#define HANDLES_ALL 0 /* as an inode number: the handles of all inodes */

/*
 * Call fn for each handle of an inode that is_open, the latest first. fn is called with
 * fs.handles_lock held and must not wait.
 */
typedef void handle_fn(struct handle *h, void *arg);
void handle_each(struct fs *fs, uint64_t ino, handle_fn *fn, void *arg);

/* Make handle_each() skip a handle whose state is about to be freed. */
void handle_leave(struct handle *h);

/* The file was removed: discard the bytes of opens that would store the file with their close. */
void handle_removed(struct fs *fs, uint64_t ino);

/*
 * The inode number of a file that an open made and that its close will store. 0: no open
 * made such a file. dir: the directory's inode number.
 */
uint64_t handle_find_made(struct fs *fs, uint64_t dir, const char *name);

/* Remove a file that handle_find_made() finds. False: there is no such file. */
bool handle_remove_made(struct fs *fs, uint64_t dir, const char *name);

/* Close all handles. The mount is gone, so the kernel does not close them any more. */
void handle_close_all(struct fs *fs);

/* O_RDONLY | O_TRUNC counts as writing: it empties the file, as on every Linux file system. */
static inline bool handle_writes(const struct handle *h)
{
	return (h->flags & O_ACCMODE) != O_RDONLY || (h->flags & O_TRUNC);
}

/* Read a range of a file whose row has show(). Returns 0 or -errno of show(). */
MUST_CHECK int handle_read_shown(struct handle *h, uint64_t offset, size_t size, struct buf *out,
				 struct err *err);

/* The number of the directory (app, user, session) whose .errors has the errors of a place. */
uint64_t handle_error_place(const struct place *at);
/* Append the path from that directory to an inode, or to a child of the inode (may be NULL). */
void handle_error_name(struct fs *fs, const struct inode *inode, const char *child,
		       struct buf *out);

#endif
