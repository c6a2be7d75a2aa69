/*
 * Engine: an ordered byte map with transactions.
 *
 * get() sees one snapshot and the transaction's own writes; scan() sees the snapshot only.
 * commit() checks the keys that get() read: if another transaction has changed one of them
 * since, commit() fails with -EAGAIN and the caller starts again. Keys that scan() read are not
 * checked. del_range() makes no other transaction fail, so a caller that removes a range also
 * deletes a key that the others get().
 *
 * Every engine keeps to the limits of the narrowest one: keys up to 1 KiB, values up to
 * ENGINE_VALUE_MAX, short transactions. One conformance test runs over all engines, and callers
 * may rely only on what the test checks.
 */
#ifndef STORE_ENGINE_ENGINE_H
#define STORE_ENGINE_ENGINE_H

#include "base/buf.h"
#include "store/engine/durability.h"

#define ENGINE_VALUE_MAX (1u << 20)

struct engine;
struct txn;

/* 0: go on; anything else ends the scan, which returns it. */
typedef int pair_fn(void *arg, struct span key, struct span value);

struct engine_ops {
	const char *name; /* the NAME of --engine=NAME */
	bool forgets;     /* a close loses everything */

	/* where: a directory, which open() makes if it is missing */
	int (*open)(const char *where, struct engine **out, struct err *err);
	void (*close)(struct engine *eng);

	int (*begin)(struct engine *eng, struct txn **out);
	int (*get)(struct txn *tx, struct span key, struct buf *value); /* appends; -ENOENT */
	int (*scan)(struct txn *tx, struct span from, struct span to, pair_fn *fn, void *arg);
	void (*put)(struct txn *tx, struct span key, struct span value);
	void (*del)(struct txn *tx, struct span key);
	void (*del_range)(struct txn *tx, struct span from, struct span to);

	/* Both end tx. -EAGAIN: the transaction lost a race; begin again. */
	int (*commit)(struct txn *tx, enum durability durability, struct err *err);
	void (*abort)(struct txn *tx);

	/* Make all commits so far survive a power cut. */
	int (*sync)(struct engine *eng, struct err *err);
};

extern const struct engine_ops engine_rocksdb;
extern const struct engine_ops engine_memory;

#endif
