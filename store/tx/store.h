/*
 * The store: everything that persists, behind transactions, and the news of
 * what changed.
 *
 * One process has a store open at a time. Each operation of the modules beside
 * this one (scope, session, state, turn, artifact) is one transaction; when it
 * is committed, the watcher hears of each change, on the thread that made it
 * and before the operation returns.
 */
#ifndef STORE_TX_STORE_H
#define STORE_TX_STORE_H

#include "store/engine/engine.h"

#include <stdint.h>

struct key;
struct store;

/* A place in the tree of scopes; 0: not that deep. */
struct ref {
	uint64_t app;
	uint64_t user;
	uint64_t session;
};

/* The number of the deepest scope that ref names. */
uint64_t ref_number(struct ref ref);

/* The scope above; the scope below of that number. */
struct ref ref_parent(struct ref ref);
struct ref ref_child(struct ref parent, uint64_t number);

enum change_kind {
	CHANGE_SCOPE_ADDED,   /* ref: the new app, user or session; name */
	CHANGE_SCOPE_REMOVED, /* members as above */
	CHANGE_LOG,           /* ref: the session whose log grew */
	CHANGE_STATE_ADDED,   /* ref: the scope; item and name of the key */
	CHANGE_STATE,         /* another value; members as above */
	CHANGE_STATE_REMOVED,
	CHANGE_ARTIFACT_ADDED, /* ref: session or user; parent directory; item, name */
	CHANGE_ARTIFACT,
	CHANGE_ARTIFACT_REMOVED,
	CHANGE_ARTIFACT_REPLACED, /* another took its name, whose versions stay */
	CHANGE_ARTIFACT_MOVED,    /* it left this name, and has been or will be added as another */
	CHANGE_VERSION_ADDED,     /* history: of the artifact; version: its number */
	CHANGE_VERSION,           /* its bytes or what is known about it */
	CHANGE_VERSION_REMOVED,
	CHANGE_TURN_ADDED, /* ref: the session; item: the turn's object; turn: its number */
	CHANGE_TURN,
	CHANGE_CALL_ADDED, /* ref: the session; parent: the turn's object; item, name: the call's */
	CHANGE_CALL,
	CHANGE_ATTACHMENT_ADDED, /* ref: the session; item and name */
	CHANGE_ATTACHMENT,       /* other bytes, or another name */
	CHANGE_ATTACHMENT_REMOVED,
	CHANGE_MEMORY_ADDED, /* ref: the session that is remembered; item: the link; name: its id */
	CHANGE_MEMORY_REMOVED,
	CHANGE_MEMORY, /* ref: the session, of which more can be found */
};

struct change {
	enum change_kind kind;
	struct ref ref;
	uint64_t parent;
	uint64_t item;
	uint64_t turn;         /* turns and calls: number of the turn */
	uint64_t version;      /* CHANGE_VERSION...: its number */
	uint64_t history;      /* artifacts: the number that the versions are kept under */
	uint64_t version_item; /* of CHANGE_VERSION...: the version's object */
	bool keeps_time;       /* artifacts: the time of the file may be what it was before */
	uint64_t unfolded;     /* CHANGE_LOG: bytes of the log that are rows */
	char name[256];
};

typedef void watch_fn(void *arg, const struct change *change);

/* Set the only watcher, before other threads use the store. */
void store_watch(struct store *st, watch_fn *fn, void *arg);

/* All that was committed survives a power cut when this returns 0. */
MUST_CHECK int store_sync(struct store *st, struct err *err);

enum durability store_durability(const struct store *st);
const char *store_folder(const struct store *st);
const char *store_engine(const struct store *st);

/* The rest is for the rooms of the store. */

/* Numbers that objects get: count of them, from first on. */
struct numbers {
	uint64_t first;
	uint64_t count;
};

/* A try of a transaction. */
struct store_tx {
	struct store *st;
	const struct engine_ops *ops;
	struct txn *txn;
	struct change *changes;
	size_t change_count;
	uint64_t number;        /* for the next new state key; 0: take one */
	struct numbers numbers; /* set aside for this try */
	uint64_t numbers_used;
	struct err *err;
};

/* Reads and writes; may run more than once, so it starts from nothing each time. */
typedef int store_tx_fn(struct store_tx *tx, void *arg);

/*
 * Run fn in a transaction and commit: 0 commits, below 0 aborts. A transaction that loses a
 * race runs again, beside others or, after some lost races, alone. fn must not call
 * store_update(), and waits for nothing that another transaction would bring.
 *
 * Returns what fn returned below 0; -EIO, -ENOSPC, -ENOMEM; -EBUSY: writers of a shared
 * engine were faster for a minute.
 */
MUST_CHECK int store_update(struct store *st, store_tx_fn *fn, void *arg, struct err *err);

/* Run fn in a transaction that is not committed. Returns what fn returned. */
MUST_CHECK int store_view(struct store *st, store_tx_fn *fn, void *arg, struct err *err);

MUST_CHECK int store_get(struct store_tx *tx, const struct key *key, struct buf *value);
void store_put(struct store_tx *tx, const struct key *key, struct span value);
/* Put a number; key_last_number() reads it from the value. */
void store_put_number(struct store_tx *tx, const struct key *key, uint64_t number);
void store_delete(struct store_tx *tx, const struct key *key);
/* Delete all keys with this prefix. */
void store_delete_all(struct store_tx *tx, const struct key *prefix);
/* Scan keys from `from` to the end of `prefix`. */
MUST_CHECK int store_scan(struct store_tx *tx, const struct key *from, const struct key *prefix,
			  pair_fn *fn, void *arg);

/* Call fn for each row of a prefix from `from` on, in a transaction that only reads. */
MUST_CHECK int store_rows(struct store *st, const struct key *from, const struct key *prefix,
			  pair_fn *fn, void *arg, struct err *err);

/* A pair_fn that appends the last number of the key to a buf of uint64_t. */
pair_fn store_note_number;

/* Tell the watcher after the commit. Returns the change to be filled in, or NULL: no memory. */
struct change *store_changed(struct store_tx *tx, enum change_kind kind, struct ref ref);

/* A number that no object ever had; 0: it could not be had, err says why. */
uint64_t store_new_number(struct store *st, struct err *err);

/* A new number inside a transaction. A try that lost a race hands its numbers on to the next. */
uint64_t store_tx_number(struct store_tx *tx);

/* The table of pins of artifact/bulk.c. */
struct bulk_pins;
struct bulk_pins *store_pins(struct store *st);

/* The worker of memory/memory.c. */
struct memory_worker;
struct memory_worker *store_memory(struct store *st);

#endif
