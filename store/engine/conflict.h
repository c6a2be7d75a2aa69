/*
 * Conflicts: the reads and writes of a transaction, and whether it lost a race.
 *
 * Engines without a check of their own use this one. Keys are hashed to stripes, and a stripe
 * has the number of the last commit that wrote to it. A transaction notes the number of the
 * latest commit before it takes its snapshot. At its end it locks the stripes of all keys that
 * it read or wrote, in order. It has lost if a later commit wrote to a stripe that it read. Keys
 * that share a stripe may make a transaction lose without need, which is rare and costs a retry.
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
	uint64_t start;       /* number of commits when the transaction began to read */
	struct buf stripes;   /* uint16_t: stripes to lock; high bit: was read */
	struct buf writes;    /* records in order, see conflict_each_write */
	uint64_t written[16]; /* bloom filter over the keys in writes */
	struct buf ranges;    /* uint64_t: the places in `writes` of deleted ranges */
	struct buf index;     /* struct own_slot: the latest write of each key, by hash */
	size_t keys;          /* in the index */
	size_t points;        /* writes that are not ranges; many of them get an index */
};

void conflict_table_init(struct conflict_table *table);
void conflict_table_release(struct conflict_table *table);

/* Note the latest commit. Call this before the snapshot is taken. */
void conflict_begin(struct conflict_table *table, struct conflict_set *set);
void conflict_release(struct conflict_set *set);

/* Empty the set, and keep its memory. */
void conflict_clear(struct conflict_set *set);

/* Note that a key was read from the snapshot. */
void conflict_note_read(struct conflict_set *set, struct span key);

/* Add a write. For a range, key and value are its ends. */
void conflict_note_write(struct conflict_set *set, enum write_kind kind, struct span key,
			 struct span value);

/* Find the set's own last write of a key. 1: *value is it; 0: not written; -ENOENT: deleted. */
int conflict_own(const struct conflict_set *set, struct span key, struct span *value);

/* Call fn for each write, in order. */
typedef void write_fn(void *arg, enum write_kind kind, struct span key, struct span value);
void conflict_each_write(const struct conflict_set *set, write_fn *fn, void *arg);

/*
 * Lock the stripes, check them, call apply(arg) to write, count the commit, and unlock.
 * Returns 0; -EAGAIN: the transaction lost a race; -ENOMEM; what apply() returned.
 */
typedef int apply_fn(void *arg);
MUST_CHECK int conflict_commit(struct conflict_table *table, struct conflict_set *set,
			       apply_fn *apply, void *arg);

#endif
