/*
 * Conflicts: what a transaction read and wrote, and whether it lost a race.
 *
 * For engines that have no such check of their own. Keys are hashed to
 * stripes; a stripe remembers the number of the last commit that wrote to it.
 * A transaction notes the commit number before it takes its snapshot; at its
 * end it locks the stripes of all it read and wrote, in order, and has lost if
 * one that it read was written by a later commit. Keys that share a stripe may
 * lose without need: the retry costs little and is rare.
 */
#ifndef STORE_ENGINE_CONFLICT_H
#define STORE_ENGINE_CONFLICT_H

#include "base/buf.h"
#include "base/mutex.h"

#include <stdatomic.h>
#include <stdint.h>

#define CONFLICT_STRIPES 4096

struct conflict_table {
	_Atomic uint64_t
		commits; /* pairs with conflict_begin: counted after the write is visible */
	struct conflict_stripe {
		struct mutex lock;
		uint64_t commit GUARDED_BY(lock);
	} stripe[CONFLICT_STRIPES];
};

enum write_kind { WRITE_PUT, WRITE_DELETE, WRITE_DELETE_RANGE };

/* The reads and writes of one transaction. All zero is a new one. */
struct conflict_set {
	uint64_t start;       /* commits when it began to read */
	struct buf stripes;   /* of uint16_t: what to lock; high bit: was read */
	struct buf writes;    /* records in order, see conflict_each_write */
	uint64_t written[16]; /* bloom filter over the keys in writes */
	struct buf ranges;    /* of uint64_t: where in writes those of ranges are */
	struct buf index;     /* of struct own_slot: the latest write of each key, by hash */
	size_t keys;          /* in the index */
	size_t points;        /* writes that are no ranges; the index is there for many */
};

void conflict_table_init(struct conflict_table *table);
void conflict_table_release(struct conflict_table *table);

/* Note the time. Call before the snapshot is taken. */
void conflict_begin(struct conflict_table *table, struct conflict_set *set);
void conflict_release(struct conflict_set *set);

/* Empty the set, and keep its memory. */
void conflict_clear(struct conflict_set *set);

/* The key was read from the snapshot. */
void conflict_note_read(struct conflict_set *set, struct span key);

/* Add a write; for a range key and value are its ends. */
void conflict_note_write(struct conflict_set *set, enum write_kind kind, struct span key,
			 struct span value);

/* The set's own last write of the key: 1 and *value; 0 not written; -ENOENT deleted. */
int conflict_own(const struct conflict_set *set, struct span key, struct span *value);

/* Call fn for each write, in order. */
typedef void write_fn(void *arg, enum write_kind kind, struct span key, struct span value);
void conflict_each_write(const struct conflict_set *set, write_fn *fn, void *arg);

/*
 * Lock and check, write by calling apply(arg), count the commit, unlock.
 * 0; -EAGAIN; -ENOMEM; what apply returned.
 */
typedef int apply_fn(void *arg);
MUST_CHECK int conflict_commit(struct conflict_table *table, struct conflict_set *set,
			       apply_fn *apply, void *arg);

#endif
