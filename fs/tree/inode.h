/*
 * Inodes: the places that the kernel knows, by number.
 *
 * An inode is here as long as the kernel holds lookups of it, and no longer.
 * While a request on it is under way the kernel does not forget it, so that
 * a handler may use the pointer without a lock.
 */
#ifndef FS_TREE_INODE_H
#define FS_TREE_INODE_H

#include "base/mutex.h"
#include "fs/tree/node.h"

#include <stdatomic.h>

/* Where an inode is, and where it was: a rename puts a new one in front. */
struct spot {
	struct place at;
	struct spot *older; /* kept, since requests may still look at it */
	uint64_t parent;    /* the directory, 0: unknown */
	char *file_name;    /* in that directory; behind the text of at.name */
	char text[];
};

struct inode {
	uint64_t ino; /* fixed */
	_Atomic(const struct spot *) spot;

	atomic_uint pending; /* opens that may still make it come into being */
	atomic_uint writers; /* opens whose drafts others do not see */
	_Atomic uint64_t
		change; /* counts changes; a handle compares before it trusts what it has */
	/*
	 * The kernel may hold attributes of it: set before they are looked up and again
	 * before they are told, cleared when they are dropped. While it is false there is
	 * nothing to drop.
	 */
	atomic_bool asked;
	_Atomic uint64_t changed_at; /* inodes.changes, when it changed or was entered */
	atomic_bool gone;            /* what it stood for was removed: opens of it are ESTALE */
	atomic_bool
		unlinked; /* a directory whose name the kernel knows is gone: rmdir(2) took it */
	_Atomic uint64_t generation; /* counts how often something new got its number */

	uint64_t notified; /* monotonic ns; guarded by inodes.lock, as are the next ones */
	uint64_t lookups;
	struct inode *next;
	struct inode *watch_prev; /* those with the same of the flags that inodes_showing() takes */
	struct inode *watch_next;

	struct mutex shown_lock;
	uint64_t shown_hash GUARDED_BY(shown_lock); /* of what inode_text_stamp() got last */
	struct buf shown GUARDED_BY(shown_lock);    /* text of a volatile file */
	uint64_t shown_at GUARDED_BY(shown_lock);   /* monotonic */
	uint64_t shown_stamp GUARDED_BY(shown_lock);
};

/* Where it is now; valid as long as the inode is. */
static inline const struct spot *inode_spot(const struct inode *inode)
{
	return atomic_load_explicit(&inode->spot, memory_order_acquire);
}

static inline const struct place *inode_place(const struct inode *inode)
{
	return &inode_spot(inode)->at;
}

struct inodes {
	_Atomic uint64_t changes; /* of any inode, held or not */
	struct mutex lock;
	struct inode **buckets GUARDED_BY(lock);
	size_t size GUARDED_BY(lock); /* a power of two */
	size_t count GUARDED_BY(lock);
	struct inode *shows_state GUARDED_BY(lock);
	struct inode *shows_memory GUARDED_BY(lock);
};

MUST_CHECK int inodes_init(struct inodes *t, struct err *err);
void inodes_release(struct inodes *t);

/* The number of a place. */
uint64_t inode_number(const struct place *at);

/*
 * Enter a place under its number, or find it there, and count one lookup.
 * text is copied (at->name); NULL: out of memory.
 */
struct inode *inode_enter(struct inodes *t, const struct place *at, uint64_t parent,
			  const char *file_name);

/*
 * Its name was changed: at is where it is now. Does nothing unless the kernel
 * holds it. 0 or -ENOMEM.
 */
MUST_CHECK int inode_move(struct inodes *t, const struct place *at, uint64_t parent,
			  const char *file_name);

/* NULL: the kernel does not hold it. */
struct inode *inode_find(struct inodes *t, uint64_t ino);

void inode_forget(struct inodes *t, uint64_t ino, uint64_t lookups);

/* It changed. Whether the kernel has attributes of it, which have to be dropped now. */
MUST_CHECK bool inode_changed(struct inodes *t, uint64_t ino);

/* The kernel may have attributes of it after all. False: it does not hold it. */
MUST_CHECK bool inode_asked(struct inodes *t, uint64_t ino);

/* What it stood for is gone; is there after all. */
void inode_removed(struct inodes *t, uint64_t ino);
void inode_restored(struct inodes *t, uint64_t ino);

/* rmdir(2) took the directory away; who is in there finds it empty. */
void inode_unlinked(struct inodes *t, uint64_t ino);

/*
 * A directory was made that has the number of one that was removed. To the kernel, which
 * may still hold that one and let nothing be made in it, it is another.
 */
void inode_remade(struct inodes *t, uint64_t ino);

/*
 * As inode_changed, for something that may be told late: *at_once is set when the
 * last time was longer than `pause` ago.
 */
MUST_CHECK bool inode_may_notify(struct inodes *t, uint64_t ino, uint64_t now, uint64_t pause,
				 bool *at_once);

/* The same stamp as long as the text is the same: for what changes without news. */
uint64_t inode_text_stamp(struct inode *inode, struct span text);

/* Whether the kernel holds it. */
bool inode_is_held(struct inodes *t, uint64_t ino);

/*
 * Collect the numbers of held inodes that show something of the scope and that the news make
 * stale into out (of uint64_t). flag: NODE_SHOWS_ABOVE or NODE_SHOWS_MEMORY; news: of enum
 * node_news.
 */
void inodes_showing(struct inodes *t, enum node_flag flag, unsigned news, struct ref scope,
		    struct buf *out);

size_t inodes_count(struct inodes *t);

#endif
