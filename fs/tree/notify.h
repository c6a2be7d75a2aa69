/*
 * Notifying the kernel: what it must forget, in which order, on which thread.
 *
 * Attributes are dropped on the thread that made the change, before its caller
 * gets an answer: that never blocks. Dropping a name may block on a directory
 * that a request holds, so names go through a queue and one thread of their own.
 * Which change makes which file stale is said in names/changes.c.
 */
#ifndef FS_TREE_NOTIFY_H
#define FS_TREE_NOTIFY_H

#include "base/err.h"
#include "base/mutex.h"

struct inodes;
struct notify_item;

#define NOTIFY_LATE_MAX 256

/* Called back when all names before the fence are dropped. */
typedef void fence_fn(void *arg);

/* The connection to the kernel. Set once; called from any thread. */
struct notify_kernel {
	/* Never blocks. -ENOENT: the kernel does not hold the inode, or not yet. */
	int (*drop_attributes)(void *arg, uint64_t ino);
	/* These may block; only the notifier's thread calls them. */
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
	uint64_t late[NOTIFY_LATE_MAX] GUARDED_BY(lock); /* to drop at late_at */
	size_t late_count GUARDED_BY(lock);
	uint64_t late_at GUARDED_BY(lock); /* monotonic ns; 0: none */
	bool stopping GUARDED_BY(lock);
};

/* Start the thread. inodes and kernel outlive the notifier. Returns 0 or -errno. */
MUST_CHECK int notify_start(struct notify *n, struct inodes *inodes,
			    const struct notify_kernel *kernel, void *kernel_arg, struct err *err);

/* Work off the queue and end the thread. Does nothing if it was not started. */
void notify_stop(struct notify *n);

/* The file's attributes changed (and with them, perhaps, its content). */
void notify_attributes(struct notify *n, uint64_t ino);

/*
 * Like notify_attributes(), for files that change often: the time of a session's directory,
 * the size of an answer that is being given. The attributes are dropped at once after a
 * pause, otherwise some milliseconds later. (The kernel checks permissions of each path with
 * attributes of directories, and would ask for them at every open.)
 */
void notify_soon(struct notify *n, uint64_t ino);

/* A name appeared, or means another file now. Does nothing unless the kernel holds parent. */
void notify_name(struct notify *n, uint64_t parent, const char *name);

/* The kernel's pages of a file are stale, though the file's time may not tell. */
void notify_pages(struct notify *n, uint64_t ino);

/* Call fn once all names so far are dropped; at once when there are none. */
void notify_fence(struct notify *n, fence_fn *fn, void *arg);

#endif
