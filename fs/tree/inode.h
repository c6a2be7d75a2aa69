/*
 * Inodes: the places that the kernel holds, by inode number.
 *
 * An inode exists as long as the kernel holds lookups of it. The kernel does not
 * forget an inode during a request on it, so the handler of the request may use
 * the pointer without a lock. All functions here may be called on any thread.
 */
#ifndef FS_TREE_INODE_H
#define FS_TREE_INODE_H

#include "base/mutex.h"
#include "fs/tree/node.h"

#include <stdatomic.h>

/* The place and name of an inode. A rename puts a new spot before the older ones. */
struct spot {
	struct place at;
	struct spot *older; /* freed with the inode, since requests may still read it */
	uint64_t parent;    /* inode number of the directory; 0: unknown */
	char *file_name;    /* in that directory; stored after the text of at.name */
	char text[];
};

struct inode {
	uint64_t ino; /* fixed */
	_Atomic(const struct spot *) spot;

	atomic_uint pending; /* opens that may still make the file exist */
	atomic_uint writers; /* opens that write a draft which others do not see */
	_Atomic uint64_t
		change; /* counts changes; a handle compares it before it uses its cached text */
	/*
	 * The kernel may cache the attributes: set before they are looked up and again
	 * before they are sent, cleared when they are dropped. While this is false there is
	 * nothing to drop.
	 */
	atomic_bool asked;
	_Atomic uint64_t changed_at; /* inodes.changes when the inode changed or was entered */
	atomic_bool gone;            /* the object was removed: opens are ESTALE */
	atomic_bool unlinked;        /* rmdir(2) removed the directory, and the kernel knows */
	_Atomic uint64_t
		generation; /* counts the new objects that got the number of a removed one */

	/* guarded by inodes.lock */
	uint64_t notified; /* monotonic ns of the latest drop by inode_may_notify() */
	uint64_t lookups;
	struct inode *next;
	struct inode *watch_prev; /* list of inodes with a flag of inodes_showing() */
	struct inode *watch_next;

	struct mutex shown_lock;
	uint64_t shown_hash GUARDED_BY(shown_lock); /* of the latest text of inode_text_stamp() */
	struct buf shown GUARDED_BY(shown_lock);    /* text of a volatile file */
	uint64_t shown_at GUARDED_BY(shown_lock);   /* monotonic */
	uint64_t shown_stamp GUARDED_BY(shown_lock);
};

/* The present spot of an inode; valid as long as the inode. */
static inline const struct spot *inode_spot(const struct inode *inode)
{
	return atomic_load_explicit(&inode->spot, memory_order_acquire);
}

static inline const struct place *inode_place(const struct inode *inode)
{
	return &inode_spot(inode)->at;
}

struct inodes {
	_Atomic uint64_t changes; /* counts changes of all inodes, held or not */
	struct mutex lock;
	struct inode **buckets GUARDED_BY(lock);
	size_t size GUARDED_BY(lock); /* a power of two */
	size_t count GUARDED_BY(lock);
	struct inode *shows_above GUARDED_BY(lock);
	struct inode *shows_memory GUARDED_BY(lock);
};

/* Returns 0; -ENOMEM. */
MUST_CHECK int inodes_init(struct inodes *t, struct err *err);
/* Free all inodes. No other thread uses the table any more. */
void inodes_release(struct inodes *t);

/* The inode number of a place. */
uint64_t inode_number(const struct place *at);

/*
 * Find the inode of a place, or make one, and count one lookup of the kernel. The texts
 * (at->name, file_name) are copied. NULL: out of memory.
 */
struct inode *inode_enter(struct inodes *t, const struct place *at, uint64_t parent,
			  const char *file_name);

/*
 * Give an inode a new spot after a rename: `at` is the new place, file_name the name in the
 * directory `parent`. Does nothing unless the kernel holds the inode. Returns 0; -ENOMEM.
 */
MUST_CHECK int inode_move(struct inodes *t, const struct place *at, uint64_t parent,
			  const char *file_name);

/* NULL: the kernel does not hold the inode. */
struct inode *inode_find(struct inodes *t, uint64_t ino);

/* The kernel forgot that many lookups; without any the inode is freed. */
void inode_forget(struct inodes *t, uint64_t ino, uint64_t lookups);

/* Note a change. True: the kernel may cache attributes, which must be dropped now. */
MUST_CHECK bool inode_changed(struct inodes *t, uint64_t ino);

/* Note that the kernel may cache attributes. False: the kernel does not hold the inode. */
MUST_CHECK bool inode_asked(struct inodes *t, uint64_t ino);

/* Note that the object was removed, or that it exists after all. */
void inode_removed(struct inodes *t, uint64_t ino);
void inode_restored(struct inodes *t, uint64_t ino);

/* Note that rmdir(2) removed the directory: whoever is still in there finds it empty. */
void inode_unlinked(struct inodes *t, uint64_t ino);

/*
 * Note that a new directory has the number of a removed one. The kernel may still hold the
 * removed one and refuse new names in it, so the new one gets another generation.
 */
void inode_remade(struct inodes *t, uint64_t ino);

/*
 * Like inode_changed(), for a change that may be reported late. *at_once is set to whether the
 * last drop is at least `pause` (ns) ago; if so, the caller drops now, else later.
 */
MUST_CHECK bool inode_may_notify(struct inodes *t, uint64_t ino, uint64_t now, uint64_t pause,
				 bool *at_once);

/* A time for a text that changes without news: a new one only when the text is another. */
uint64_t inode_text_stamp(struct inode *inode, struct span text);

/* Whether the kernel holds the inode. */
bool inode_is_held(struct inodes *t, uint64_t ino);

/*
 * Append the numbers (uint64_t) of the held inodes that show data of the scope and that the
 * news make stale. flag: NODE_SHOWS_ABOVE or NODE_SHOWS_MEMORY; news: of enum node_news.
 */
void inodes_showing(struct inodes *t, enum node_flag flag, unsigned news, struct ref scope,
		    struct buf *out);

/* The number of inodes that the kernel holds. */
size_t inodes_count(struct inodes *t);

#endif
