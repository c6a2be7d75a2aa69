/*
 * Notify: makes the kernel forget attributes, names and pages that are stale.
 *
 * Attributes are dropped on the thread that made the change, before its caller
 * gets an answer; this never blocks. Dropping a name may block on a directory
 * that a request holds, so names go through a queue to the notifier's own thread.
 * names/changes.c decides which change makes which file stale.
 */
#ifndef FS_TREE_NOTIFY_H
#define FS_TREE_NOTIFY_H

#include "base/err.h"
#include "base/mutex.h"

struct inodes;
struct notify_item;

#define NOTIFY_LATE_MAX 256

/* A callback: all names that were queued before the fence are dropped. */
typedef void fence_fn(void *arg);

/* The functions that reach the kernel. */
struct notify_kernel {
	/* Any thread; never blocks. -ENOENT: the kernel does not hold the inode, or not yet. */
	int (*drop_attributes)(void *arg, uint64_t ino);
	/* Both may block; only the notifier's thread calls them. */
	void (*drop_name)(void *arg, uint64_t parent, const char *name);
	void (*drop_pages)(void *arg, uint64_t ino);
};

struct notify {
	/* fixed after notify_start() */
	struct inodes *inodes;
	const struct notify_kernel *kernel;
	void *kernel_arg;
	bool started;
	pthread_t thread;

	struct mutex lock;
	struct cond wake;
	struct notify_item *first GUARDED_BY(lock);
	struct notify_item *last GUARDED_BY(lock);
	uint64_t late[NOTIFY_LATE_MAX] GUARDED_BY(
		lock); /* inodes whose attributes are dropped at late_at */
	size_t late_count GUARDED_BY(lock);
	uint64_t late_at GUARDED_BY(lock); /* monotonic ns; 0: late is empty */
	bool stopping GUARDED_BY(lock);
};

/*
 * Start the notifier's thread.
 *
 * @inodes, @kernel, @kernel_arg borrowed until notify_stop()
 * Returns 0; -errno: the thread could not be started.
 */
MUST_CHECK int notify_start(struct notify *n, struct inodes *inodes,
			    const struct notify_kernel *kernel, void *kernel_arg, struct err *err);

/* Work off the queue and end the thread. Does nothing if the thread was not started. */
void notify_stop(struct notify *n);

/* Drop the attributes of a file that changed. Any thread; never blocks. */
void notify_attributes(struct notify *n, uint64_t ino);

/*
 * Like notify_attributes(), for files that change often: a session's directory, an answer
 * that a model is giving. The attributes are dropped at once if the last drop is some
 * milliseconds ago, else some milliseconds later. (The kernel needs the attributes of each
 * directory of a path to check permissions, and would ask for them at every open.)
 */
void notify_soon(struct notify *n, uint64_t ino);

/*
 * Queue a name to drop: the name appeared or disappeared, or means another file now. Does
 * nothing unless the kernel holds parent. Any thread; never blocks.
 */
void notify_name(struct notify *n, uint64_t parent, const char *name);

/* Queue the pages of a file to drop: they are stale, though the file's time may be the same. */
void notify_pages(struct notify *n, uint64_t ino);

/*
 * Call fn when all names queued so far are dropped: on the notifier's thread, or at once on
 * this one if the queue is empty. Without memory, and while the notifier stops, fn is called
 * at once too, perhaps before the names are dropped.
 */
void notify_fence(struct notify *n, fence_fn *fn, void *arg);

#endif
