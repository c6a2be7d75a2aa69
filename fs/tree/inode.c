/*
 * Inodes: see inode.h.
 */
#include "fs/tree/inode.h"

#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>

#define BUCKETS_AT_START 1024

int inodes_init(struct inodes *t, struct err *err)
{
	*t = (struct inodes){ .size = BUCKETS_AT_START };
	mutex_init(&t->lock);
	t->buckets = calloc(t->size, sizeof(struct inode *));
	return t->buckets ? 0 : err_nomem(err);
}

/* The new spot owns `older`. */
static struct spot *make_spot(const struct place *at, uint64_t parent, const char *file_name,
			      struct spot *older)
{
	size_t text = at->name ? strlen(at->name) + 1 : 0;
	size_t name = file_name ? strlen(file_name) + 1 : 0;
	struct spot *spot = malloc(sizeof *spot + text + name);

	if (!spot)
		return NULL;
	spot->at = *at;
	spot->older = older;
	spot->parent = parent;
	spot->at.name = text ? memcpy(spot->text, at->name, text) : NULL;
	spot->file_name = name ? memcpy(spot->text + text, file_name, name) : NULL;
	return spot;
}

static void free_inode(struct inode *inode)
{
	struct spot *spot = (struct spot *)inode_spot(inode);

	while (spot) {
		struct spot *older = spot->older;

		free(spot);
		spot = older;
	}
	buf_release(&inode->shown);
	mutex_release(&inode->shown_lock);
	free(inode);
}

void inodes_release(struct inodes *t) NO_THREAD_ANALYSIS /* no other thread is left */
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

/* Double the buckets. Without memory the table just gets slower. */
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

static struct inode *make_inode(const struct place *at, uint64_t ino, uint64_t parent,
				const char *file_name)
{
	struct inode *inode = calloc(1, sizeof *inode);
	struct spot *spot = inode ? make_spot(at, parent, file_name, NULL) : NULL;

	if (!spot) {
		free(inode);
		return NULL;
	}
	inode->ino = ino;
	spot->at.inode = inode;
	atomic_init(&inode->spot, spot);
	mutex_init(&inode->shown_lock);
	return inode;
}

/* The list of inodes with one of these flags; NULL: the flags have no list. */
static struct inode **watching_locked(struct inodes *t, unsigned flags) REQUIRES(t->lock)
{
	return flags & NODE_SHOWS_ABOVE    ? &t->shows_above
	       : flags & NODE_SHOWS_MEMORY ? &t->shows_memory
					   : NULL;
}

static void watch_locked(struct inodes *t, struct inode *inode) REQUIRES(t->lock)
{
	struct inode **first = watching_locked(t, inode_place(inode)->type->flags);

	if (!first)
		return;
	inode->watch_next = *first;
	if (*first)
		(*first)->watch_prev = inode;
	*first = inode;
}

static void unwatch_locked(struct inodes *t, struct inode *inode) REQUIRES(t->lock)
{
	struct inode **first = watching_locked(t, inode_place(inode)->type->flags);

	if (inode->watch_next)
		inode->watch_next->watch_prev = inode->watch_prev;
	if (inode->watch_prev)
		inode->watch_prev->watch_next = inode->watch_next;
	else if (first && *first == inode)
		*first = inode->watch_next;
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
		inode = make_inode(at, ino, parent, file_name);
		if (inode) {
			atomic_store(&inode->changed_at, atomic_load(&t->changes));
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

int inode_move(struct inodes *t, const struct place *at, uint64_t parent, const char *file_name)
{
	struct inode *inode;
	int r = 0;

	mutex_lock(&t->lock);
	inode = *slot_locked(t, inode_number(at));
	if (inode) {
		struct spot *spot = make_spot(at, parent, file_name,
					      (struct spot *)inode_spot(inode));

		if (spot) {
			spot->at.inode = inode;
			atomic_store_explicit(&inode->spot, spot, memory_order_release);
		} else {
			r = -ENOMEM;
		}
	}
	mutex_unlock(&t->lock);
	return r;
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
	uint64_t now;
	bool asked = false;

	mutex_lock(&t->lock);
	inode = *slot_locked(t, ino);
	now = atomic_fetch_add(&t->changes, 1) + 1;
	if (inode) {
		atomic_store(&inode->changed_at, now);
		atomic_fetch_add(&inode->change, 1);
		asked = atomic_exchange(&inode->asked, false);
	}
	mutex_unlock(&t->lock);
	return asked;
}

bool inode_may_notify(struct inodes *t, uint64_t ino, uint64_t now, uint64_t pause, bool *at_once)
{
	struct inode *inode;
	uint64_t change;
	bool asked = false;

	mutex_lock(&t->lock);
	inode = *slot_locked(t, ino);
	change = atomic_fetch_add(&t->changes, 1) + 1;
	if (inode) {
		atomic_store(&inode->changed_at, change);
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

static void set_gone(struct inodes *t, uint64_t ino, bool gone)
{
	struct inode *inode;

	mutex_lock(&t->lock);
	inode = *slot_locked(t, ino);
	if (inode)
		atomic_store(&inode->gone, gone);
	mutex_unlock(&t->lock);
}

void inode_removed(struct inodes *t, uint64_t ino)
{
	set_gone(t, ino, true);
}

void inode_unlinked(struct inodes *t, uint64_t ino)
{
	struct inode *inode;

	mutex_lock(&t->lock);
	inode = *slot_locked(t, ino);
	if (inode)
		atomic_store(&inode->unlinked, true);
	mutex_unlock(&t->lock);
}

void inode_restored(struct inodes *t, uint64_t ino)
{
	set_gone(t, ino, false);
}

void inode_remade(struct inodes *t, uint64_t ino)
{
	struct inode *inode;

	mutex_lock(&t->lock);
	inode = *slot_locked(t, ino);
	if (inode && atomic_exchange(&inode->gone, false))
		atomic_fetch_add(&inode->generation, 1);
	mutex_unlock(&t->lock);
}

uint64_t inode_text_stamp(struct inode *inode, struct span text)
{
	uint64_t hash = span_hash(text);
	uint64_t stamp;

	mutex_lock(&inode->shown_lock);
	if (!inode->shown_stamp || inode->shown_hash != hash)
		inode->shown_stamp = clock_stamp();
	inode->shown_hash = hash;
	stamp = inode->shown_stamp;
	mutex_unlock(&inode->shown_lock);
	return stamp;
}

bool inode_is_held(struct inodes *t, uint64_t ino)
{
	return inode_find(t, ino);
}

void inodes_showing(struct inodes *t, enum node_flag flag, unsigned news, struct ref scope,
		    struct buf *out)
{
	struct inode *inode;

	mutex_lock(&t->lock);
	for (inode = *watching_locked(t, flag); inode; inode = inode->watch_next) {
		const struct place *at = inode_place(inode);

		if (!(at->type->news & news) || at->ref.app != scope.app ||
		    (scope.user && at->ref.user != scope.user))
			continue;
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
