/*
 * From changes of the store to what the kernel has to forget.
 *
 * Attributes are dropped on the thread that made the change, before its caller
 * gets an answer: that never blocks. Names may block on a directory that a
 * request holds, so that they go through a queue and one thread of their own.
 */
#ifndef FS_TREE_NOTIFY_H
#define FS_TREE_NOTIFY_H

#include "base/mutex.h"
#include "store/tx/store.h"

struct fs;
struct notify_item;

#define NOTIFY_LATE_MAX 256

typedef void fence_fn(void *arg);

struct notify {
	struct mutex lock;
	struct cond wake;
	struct notify_item *first GUARDED_BY(lock);
	struct notify_item *last GUARDED_BY(lock);
	uint64_t late[NOTIFY_LATE_MAX] GUARDED_BY(lock); /* to drop at late_at */
	size_t late_count GUARDED_BY(lock);
	uint64_t late_at GUARDED_BY(lock); /* monotonic ns; 0: none */
	bool stopping GUARDED_BY(lock);
	bool started;
	pthread_t thread;
};

MUST_CHECK int notify_start(struct fs *fs, struct err *err);
void notify_stop(struct fs *fs);

/* The store's watcher. */
void notify_change(void *fs, const struct change *change);

/* The file's attributes changed (and with them, perhaps, its content). */
void notify_attributes(struct fs *fs, uint64_t ino);

/*
 * As notify_attributes, for what changes often: the time of a session's directory, the
 * size of an answer that is being given. At once after a pause, else some milliseconds
 * later. (The kernel checks permissions of each path with attributes of directories,
 * and would ask for them at every open.)
 */
void notify_soon(struct fs *fs, uint64_t ino);

/* A name appeared, or means another thing now. Does nothing unless the kernel holds parent. */
void notify_name(struct fs *fs, uint64_t parent, const char *name);

/* The kernel's pages of a file are of no use, though its time may not tell. */
void notify_pages(struct fs *fs, uint64_t ino);

/* Call fn once all names so far are through; at once when there are none. */
void notify_fence(struct fs *fs, fence_fn *fn, void *arg);

#endif
