/*
 * Engine: an ordered byte map with transactions.
 *
 * A transaction's get() sees one snapshot and its own writes; scan() sees the
 * snapshot only. What was read with get() is checked at commit: if another
 * transaction has changed such a key since, commit fails with -EAGAIN and the
 * caller starts again. scan() is not checked, and del_range() conflicts with
 * nobody: whoever removes a range also deletes a key that others get().
 *
 * Every engine lives with the narrowest one's limits: keys to 1 KiB, values to
 * ENGINE_VALUE_MAX, short transactions. One conformance test runs over all
 * engines; only what it checks may be relied on.
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
	const char *name; /* as in --engine=NAME */
	bool forgets;     /* nothing is left when it closes */

	/* `where` is a directory, made if it is missing. */
	int (*open)(const char *where, struct engine **out, struct err *err);
	void (*close)(struct engine *eng);

	int (*begin)(struct engine *eng, struct txn **out);
	int (*get)(struct txn *tx, struct span key, struct buf *value); /* appends; -ENOENT */
	int (*scan)(struct txn *tx, struct span from, struct span to, pair_fn *fn, void *arg);
	void (*put)(struct txn *tx, struct span key, struct span value);
	void (*del)(struct txn *tx, struct span key);
	void (*del_range)(struct txn *tx, struct span from, struct span to);

	/* Ends tx either way. 0, -EAGAIN lost a race: retry from begin. */
	int (*commit)(struct txn *tx, enum durability durability, struct err *err);
	void (*abort)(struct txn *tx);

	/* All commits so far survive a power cut when this returns 0. */
	int (*sync)(struct engine *eng, struct err *err);
};

extern const struct engine_ops engine_rocksdb;
extern const struct engine_ops engine_memory;

#endif
