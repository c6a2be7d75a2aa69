/*
 * The store: transactions on everything that persists, and the news of each change.
 *
 * One process has a store open at a time. Each operation of the modules of the store (scope,
 * session, state, turn, artifact, ...) is one transaction. After its commit, and before the
 * operation returns, its thread calls the watcher with each change.
 */
#ifndef STORE_TX_STORE_H
#define STORE_TX_STORE_H

#include "store/engine/engine.h"
#include "store/tx/key.h"

#include <stdint.h>

struct store;

/* A scope: an app (user and session are 0), a user (session is 0) or a session; all 0: the root. */
struct ref {
	uint64_t app;
	uint64_t user;
	uint64_t session;
};

/* The number of the deepest scope that ref names. */
uint64_t ref_number(struct ref ref);

/* The scope that contains ref; the member of `parent` with that number. */
struct ref ref_parent(struct ref ref);
struct ref ref_child(struct ref parent, uint64_t number);

enum change_kind {
	CHANGE_SCOPE_ADDED,   /* ref: the new app, user or session; name */
	CHANGE_SCOPE_REMOVED, /* ref: the removed scope; name */
	CHANGE_LOG,           /* ref: the session whose log grew */
	CHANGE_STATE_ADDED,   /* ref: the scope; item and name of the key */
	CHANGE_STATE,         /* a new value; ref, item and name */
	CHANGE_STATE_REMOVED,
	CHANGE_ARTIFACT_ADDED, /* ref: session or user; parent directory; item, name */
	CHANGE_ARTIFACT,
	CHANGE_ARTIFACT_REMOVED,
	CHANGE_ARTIFACT_REPLACED, /* another file took the name and the versions */
	CHANGE_ARTIFACT_MOVED,    /* renamed: CHANGE_ARTIFACT_ADDED tells of the new name */
	CHANGE_VERSION_ADDED,     /* history: of the artifact; version: its number */
	CHANGE_VERSION,           /* new bytes or a new description */
	CHANGE_VERSION_REMOVED,
	CHANGE_TURN_ADDED, /* ref: the session; item: the turn's object; turn: its number */
	CHANGE_TURN,
	CHANGE_CALL_ADDED, /* ref: the session; parent: the turn's object; item, name: the call's */
	CHANGE_CALL,
	CHANGE_ATTACHMENT_ADDED, /* ref: the session; item and name */
	CHANGE_ATTACHMENT,       /* new bytes, or a new name */
	CHANGE_ATTACHMENT_REMOVED,
	CHANGE_MEMORY_ADDED, /* ref: the remembered session; item: the link; name: the session's id
			      */
	CHANGE_MEMORY_REMOVED,
	CHANGE_MEMORY, /* ref: a remembered session with more to be found */
};

struct change {
	enum change_kind kind;
	struct ref ref;
	uint64_t parent;
	uint64_t item;
	uint64_t turn;         /* turns and calls: number of the turn */
	uint64_t version;      /* CHANGE_VERSION...: its number */
	uint64_t history;      /* artifacts: the number under which the versions are stored */
	uint64_t version_item; /* CHANGE_VERSION...: number of the version's object */
	bool keeps_time;       /* artifacts: the change may leave the file's time as it was */
	bool folds;            /* CHANGE_LOG: there may be a segment to fold */
	char name[256];
};

typedef void watch_fn(void *arg, const struct change *change);

/* Set the only watcher. Call this before other threads use the store. */
void store_watch(struct store *st, watch_fn *fn, void *arg);

/* Make all commits so far survive a power cut. */
MUST_CHECK int store_sync(struct store *st, struct err *err);

enum durability store_durability(const struct store *st);
const char *store_folder(const struct store *st);
const char *store_engine(const struct store *st);

/* The number of this daemon among those that use the store. */
uint64_t store_node(const struct store *st);

/* The rest is for the rooms of the store. */

/* Numbers for objects: `count` of them, from `first` on. */
struct numbers {
	uint64_t first;
	uint64_t count;
};

/* One attempt at a transaction. */
struct store_tx {
	struct store *st;
	const struct engine_ops *ops;
	struct txn *txn;
	struct change *changes;
	size_t change_count;
	uint64_t number;        /* for the next new state key; 0: any */
	struct numbers numbers; /* set aside for this attempt */
	uint64_t numbers_used;
	struct err *err;
};

/* The body of a transaction. It may run several times, and must not rely on earlier runs. */
typedef int store_tx_fn(struct store_tx *tx, void *arg);

/*
 * Run fn in a transaction. The transaction commits unless fn returns below 0. A transaction
 * that loses a race runs again, and after some lost races it runs alone. fn must not call
 * store_update() and must not wait for another transaction.
 *
 * Returns 0; the error of fn; -EIO, -ENOSPC, -ENOMEM; -EBUSY: the transaction lost every
 * race for a minute.
 */
MUST_CHECK int store_update(struct store *st, store_tx_fn *fn, void *arg, struct err *err);

/* Run fn in a transaction that is never committed. Returns what fn returned. */
MUST_CHECK int store_view(struct store *st, store_tx_fn *fn, void *arg, struct err *err);

/* Append the value of a key. -ENOENT; -EIO with a text. */
MUST_CHECK int store_get(struct store_tx *tx, const struct key *key, struct buf *value);
void store_put(struct store_tx *tx, const struct key *key, struct span value);
/* Put a number; key_last_number() reads it from the value. */
void store_put_number(struct store_tx *tx, const struct key *key, uint64_t number);
void store_delete(struct store_tx *tx, const struct key *key);
/* Delete all keys with this prefix. */
void store_delete_all(struct store_tx *tx, const struct key *prefix);
/*
 * Call fn for each stored row from `from` to the end of `prefix`; writes of this transaction are
 * not seen. If fn returns anything but 0, the scan ends and returns that value.
 */
MUST_CHECK int store_scan(struct store_tx *tx, const struct key *from, const struct key *prefix,
			  pair_fn *fn, void *arg);

/* store_scan() in a transaction of its own. */
MUST_CHECK int store_rows(struct store *st, const struct key *from, const struct key *prefix,
			  pair_fn *fn, void *arg, struct err *err);

/*
 * Append the numbers of the rows in a space whose record begins with the node of this daemon, as
 * uint64_t. A record of an older store has no node, and counts too.
 */
MUST_CHECK int store_own_rows(struct store *st, enum key_space space, struct buf *numbers,
			      struct err *err);

/*
 * Call fn for each row with a prefix, in transactions of some hundred rows each. fn may write to
 * the row; it must give the same result when it is called again for a row that it has changed,
 * since a daemon may end in the middle. Only for times when nobody else uses the store.
 */
typedef int store_convert_fn(struct store_tx *tx, struct span key, struct span value);
MUST_CHECK int store_convert(struct store *st, const struct key *prefix, store_convert_fn *fn,
			     struct err *err);

/* Receives a sentence about the progress of a conversion. */
typedef void store_say_fn(const char *sentence);

/* Say that part `at` of a conversion begins; and, at most once a second, how far it is. */
void store_converts(struct store *st, const char *what, size_t at, size_t parts);
void store_progress(struct store *st, uint64_t done, const char *unit);

/* A pair_fn that appends the last number of the key to a buf of uint64_t. */
pair_fn store_note_number;

/* Add a change, which the caller fills in; the watcher gets it after the commit. NULL: out of
 * memory. */
struct change *store_add_change(struct store_tx *tx, enum change_kind kind, struct ref ref);

/* A number that no object ever had. 0: it failed, and err says why. Any thread. */
uint64_t store_new_number(struct store *st, struct err *err);

/* store_new_number() inside a transaction; a later attempt gets the same number. 0: see tx->err. */
uint64_t store_tx_number(struct store_tx *tx);

/* The table of pins of artifact/bulk.c. */
struct bulk_pins;
struct bulk_pins *store_pins(struct store *st);

/* The worker of memory/memory.c. */
struct memory_worker;
struct memory_worker *store_memory(struct store *st);

#endif
