/*
 * Inodes: see inode.h.
 */
#include "fs/inode.h"

#include <stdlib.h>

#define BUCKETS_AT_START 1024

int inodes_init(struct inodes *t, struct err *err)
{
	*t = (struct inodes){ .size = BUCKETS_AT_START };
	mutex_init(&t->lock);
	t->buckets = calloc(t->size, sizeof(struct inode *));
	return t->buckets ? 0 : err_nomem(err);
}

static void free_inode(struct inode *inode)
{
	buf_release(&inode->shown);
	mutex_release(&inode->shown_lock);
	free(inode->file_name);
	free(inode->text);
	free(inode);
}

void inodes_release(struct inodes *t) NO_THREAD_ANALYSIS /* nobody else is left */
{
	size_t i;

	for (i = 0; t->buckets && i < t->size; i++) {
		while (t->buckets[i]) {
			struct inode *inode = t->buckets[i];

			t->buckets[i] = inode->next;
			free_inode(inode);
		}
	}
	free(t->buckets);
	mutex_release(&t->lock);
}

uint64_t inode_number(const struct place *at)
{
	uint64_t object = at->item ? at->item : ref_number(at->ref);

	return object || at->type->id ? node_ino(object, at->type->id) : 1;
}

static struct inode **slot_locked(struct inodes *t, uint64_t ino) REQUIRES(t->lock)
{
	uint64_t h = ino * 0x9e3779b97f4a7c15u;
	struct inode **at = &t->buckets[h >> 20 & (t->size - 1)];

	while (*at && (*at)->ino != ino)
		at = &(*at)->next;
	return at;
}

/* Twice the buckets. Without memory for them the table just gets slower. */
static void grow_locked(struct inodes *t) REQUIRES(t->lock)
{
	struct inode **old = t->buckets;
	size_t old_size = t->size;
	struct inode **buckets = calloc(old_size * 2, sizeof(struct inode *));
	size_t i;

	if (!buckets)
		return;
	t->buckets = buckets;
	t->size = old_size * 2;
	for (i = 0; i < old_size; i++) {
		while (old[i]) {
			struct inode *inode = old[i];
			struct inode **at = slot_locked(t, inode->ino);

			old[i] = inode->next;
			inode->next = *at;
			*at = inode;
		}
	}
	free(old);
}

static struct inode *make_inode(const struct place *at, uint64_t ino)
{
	struct inode *inode = calloc(1, sizeof *inode);

	if (!inode)
		return NULL;
	inode->ino = ino;
	inode->at = *at;
	inode->at.inode = inode;
	mutex_init(&inode->shown_lock);
	inode->text = at->name ? strdup(at->name) : NULL;
	inode->at.name = inode->text;
	if (at->name && !inode->text) {
		free_inode(inode);
		return NULL;
	}
	return inode;
}

static void watch_locked(struct inodes *t, struct inode *inode) REQUIRES(t->lock)
{
	if (!(inode->at.type->flags & NODE_SHOWS_STATE))
		return;
	inode->watch_next = t->watching;
	if (t->watching)
		t->watching->watch_prev = inode;
	t->watching = inode;
}

static void unwatch_locked(struct inodes *t, struct inode *inode) REQUIRES(t->lock)
{
	if (inode->watch_next)
		inode->watch_next->watch_prev = inode->watch_prev;
	if (inode->watch_prev)
		inode->watch_prev->watch_next = inode->watch_next;
	else if (t->watching == inode)
		t->watching = inode->watch_next;
}

struct inode *inode_enter(struct inodes *t, const struct place *at, uint64_t parent,
			  const char *file_name)
{
	uint64_t ino = inode_number(at);
	struct inode **slot;
	struct inode *inode;

	mutex_lock(&t->lock);
	if (t->count > t->size)
		grow_locked(t);
	slot = slot_locked(t, ino);
	inode = *slot;
	if (!inode) {
		inode = make_inode(at, ino);
		if (inode && file_name) {
			inode->file_name = strdup(file_name); /* only told in errors */
			inode->parent = parent;
		}
		if (inode) {
			*slot = inode;
			t->count++;
			watch_locked(t, inode);
		}
	}
	if (inode)
		inode->lookups++;
	mutex_unlock(&t->lock);
	return inode;
}

struct inode *inode_find(struct inodes *t, uint64_t ino)
{
	struct inode *inode;

	mutex_lock(&t->lock);
	inode = *slot_locked(t, ino);
	mutex_unlock(&t->lock);
	return inode;
}

void inode_forget(struct inodes *t, uint64_t ino, uint64_t lookups)
{
	struct inode **slot;
	struct inode *gone = NULL;

	mutex_lock(&t->lock);
	slot = slot_locked(t, ino);
	if (*slot) {
		(*slot)->lookups -= MIN(lookups, (*slot)->lookups);
		if (!(*slot)->lookups) {
			gone = *slot;
			*slot = gone->next;
			unwatch_locked(t, gone);
			t->count--;
		}
	}
	mutex_unlock(&t->lock);
	if (gone)
		free_inode(gone);
}

bool inode_changed(struct inodes *t, uint64_t ino)
{
	struct inode *inode;
	bool asked = false;

	mutex_lock(&t->lock);
	inode = *slot_locked(t, ino);
	if (inode) {
		atomic_fetch_add(&inode->change, 1);
		asked = atomic_exchange(&inode->asked, false);
	}
	mutex_unlock(&t->lock);
	return asked;
}

bool inode_may_notify(struct inodes *t, uint64_t ino, uint64_t now, uint64_t pause, bool *at_once)
{
	struct inode *inode;
	bool asked = false;

	mutex_lock(&t->lock);
	inode = *slot_locked(t, ino);
	if (inode) {
		atomic_fetch_add(&inode->change, 1);
		asked = atomic_load(&inode->asked);
		*at_once = now - inode->notified >= pause;
		if (asked && *at_once) {
			inode->notified = now;
			atomic_store(&inode->asked, false);
		}
	}
	mutex_unlock(&t->lock);
	return asked;
}

bool inode_asked(struct inodes *t, uint64_t ino)
{
	struct inode *inode;

	mutex_lock(&t->lock);
	inode = *slot_locked(t, ino);
	if (inode)
		atomic_store(&inode->asked, true);
	mutex_unlock(&t->lock);
	return inode;
}

void inode_removed(struct inodes *t, uint64_t ino)
{
	struct inode *inode;

	mutex_lock(&t->lock);
	inode = *slot_locked(t, ino);
	if (inode)
		atomic_store(&inode->gone, true);
	mutex_unlock(&t->lock);
}

bool inode_is_held(struct inodes *t, uint64_t ino)
{
	return inode_find(t, ino);
}

void inodes_showing(struct inodes *t, struct ref scope, const struct node_type *only,
		    struct buf *out)
{
	struct inode *inode;

	mutex_lock(&t->lock);
	for (inode = t->watching; inode; inode = inode->watch_next) {
		const struct ref *ref = &inode->at.ref;

		if (ref->app != scope.app || (scope.user && ref->user != scope.user))
			continue;
		if (!only || inode->at.type == only)
			buf_add(out, &inode->ino, sizeof inode->ino);
	}
	mutex_unlock(&t->lock);
}

size_t inodes_count(struct inodes *t)
{
	size_t count;

	mutex_lock(&t->lock);
	count = t->count;
	mutex_unlock(&t->lock);
	return count;
}
