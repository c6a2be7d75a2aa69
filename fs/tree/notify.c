/*
 * Notify: see notify.h.
 */
#include "fs/tree/notify.h"

#include "base/clock.h"
#include "fs/tree/inode.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define SOON_NS (10 * (uint64_t)NSEC_PER_MSEC)

struct notify_item {
	struct notify_item *next;
	uint64_t parent;
	char name[256];  /* empty: drop the pages of the file `parent` */
	fence_fn *fence; /* set: this item is a fence, not a name */
	void *arg;
};

/* Drop all late attributes. */
static void drop_late(struct notify *n)
{
	uint64_t due[NOTIFY_LATE_MAX];
	size_t count;
	size_t i;

	mutex_lock(&n->lock);
	count = n->late_count;
	memcpy(due, n->late, count * sizeof *due);
	n->late_count = 0;
	n->late_at = 0;
	mutex_unlock(&n->lock);
	for (i = 0; i < count; i++)
		notify_attributes(n, due[i]);
}

static bool late_is_due_locked(const struct notify *n) REQUIRES(n->lock)
{
	return n->late_at && clock_monotonic() >= n->late_at;
}

/* Wait for the next item, and drop late attributes meanwhile. NULL: the notifier stops. */
static struct notify_item *next_item(struct notify *n)
{
	struct notify_item *item = NULL;
	bool due = true;

	while (due) {
		mutex_lock(&n->lock);
		while (!n->first && !n->stopping && !late_is_due_locked(n)) {
			if (n->late_at)
				(void)cond_wait_until(&n->wake, &n->lock, n->late_at);
			else
				cond_wait(&n->wake, &n->lock);
		}
		due = late_is_due_locked(n);
		item = n->first;
		mutex_unlock(&n->lock);
		if (due)
			drop_late(n);
	}
	return item;
}

/* Drop the attributes some milliseconds from now. False: the list of late ones is full. */
static bool drop_later(struct notify *n, uint64_t ino)
{
	bool is_first = false;
	bool added = true;
	size_t i;

	mutex_lock(&n->lock);
	for (i = 0; i < n->late_count && n->late[i] != ino; i++)
		;
	if (i == NOTIFY_LATE_MAX) {
		added = false;
	} else if (i == n->late_count) {
		n->late[n->late_count++] = ino;
		is_first = !n->late_at;
		if (is_first)
			n->late_at = clock_monotonic() + SOON_NS;
	}
	mutex_unlock(&n->lock);
	if (is_first)
		cond_wake_one(&n->wake);
	return added;
}

/*
 * A reply to a lookup may carry attributes that the kernel has not entered yet: the kernel
 * answers -ENOENT now and would cache the old attributes in a moment. So drop them later again.
 */
static void drop_now(struct notify *n, uint64_t ino)
{
	if (n->kernel->drop_attributes(n->kernel_arg, ino) == -ENOENT &&
	    inode_asked(n->inodes, ino))
		(void)drop_later(n, ino);
}

void notify_soon(struct notify *n, uint64_t ino)
{
	bool at_once;

	if (!inode_may_notify(n->inodes, ino, clock_monotonic(), SOON_NS, &at_once))
		return; /* the kernel caches no attributes of the file */
	if (at_once || !drop_later(n, ino))
		drop_now(n, ino);
}

void notify_attributes(struct notify *n, uint64_t ino)
{
	if (inode_changed(n->inodes, ino))
		drop_now(n, ino);
}

/* An item leaves the queue only when it is done: for a fence an empty queue means all is done. */
static void remove_item(struct notify *n, struct notify_item *item)
{
	mutex_lock(&n->lock);
	n->first = item->next;
	if (!n->first)
		n->last = NULL;
	mutex_unlock(&n->lock);
	free(item);
}

static void *run_queue(void *arg)
{
	struct notify *n = arg;
	struct notify_item *item;

	while ((item = next_item(n))) {
		if (item->fence)
			item->fence(item->arg);
		else if (!item->name[0])
			n->kernel->drop_pages(n->kernel_arg, item->parent);
		else
			n->kernel->drop_name(n->kernel_arg, item->parent, item->name);
		remove_item(n, item);
	}
	return NULL;
}

int notify_start(struct notify *n, struct inodes *inodes, const struct notify_kernel *kernel,
		 void *kernel_arg, struct err *err)
{
	int r;

	n->inodes = inodes;
	n->kernel = kernel;
	n->kernel_arg = kernel_arg;
	mutex_init(&n->lock);
	cond_init(&n->wake);
	r = -pthread_create(&n->thread, NULL, run_queue, n);
	n->started = r == 0;
	return r < 0 ? err_errno(err, r, "starting a thread") : 0;
}

void notify_stop(struct notify *n)
{
	if (!n->started)
		return;
	mutex_lock(&n->lock);
	n->stopping = true;
	mutex_unlock(&n->lock);
	cond_wake_all(&n->wake);
	(void)pthread_join(n->thread, NULL);
	cond_release(&n->wake);
	mutex_release(&n->lock);
	n->started = false;
}

static bool add_item(struct notify *n, struct notify_item *item, bool only_after_others)
{
	bool queued = false;

	mutex_lock(&n->lock);
	if (!n->stopping && (n->first || !only_after_others)) {
		if (n->last)
			n->last->next = item;
		else
			n->first = item;
		n->last = item;
		queued = true;
	}
	mutex_unlock(&n->lock);
	if (queued)
		cond_wake_one(&n->wake);
	return queued;
}

void notify_name(struct notify *n, uint64_t parent, const char *name)
{
	struct notify_item *item;

	if (!inode_is_held(n->inodes, parent))
		return;
	item = calloc(1, sizeof *item);
	if (!item)
		return; /* the kernel learns the name when its cached entry expires */
	item->parent = parent;
	(void)snprintf(item->name, sizeof item->name, "%s", name);
	if (!add_item(n, item, false))
		free(item);
}

void notify_pages(struct notify *n, uint64_t ino)
{
	notify_name(n, ino, "");
}

void notify_fence(struct notify *n, fence_fn *fn, void *arg)
{
	struct notify_item *item = calloc(1, sizeof *item);

	if (item) {
		item->fence = fn;
		item->arg = arg;
		if (add_item(n, item, true))
			return;
		free(item);
	}
	fn(arg);
}
