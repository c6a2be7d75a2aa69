/*
 * Bulk bytes: what is too large for rows, written once, to a file of its own.
 *
 * A bulk has a number and lies in FOLDER/bulk. Until a transaction publishes
 * it (by deleting its KEY_PENDING row together with the write that refers to
 * it) it belongs to nobody, and the next start removes it.
 */
#ifndef STORE_BULK_H
#define STORE_BULK_H

#include "store/store.h"

/* A new empty one, pending, open for reading and writing. Returns a descriptor or -errno. */
MUST_CHECK int bulk_create(struct store *st, uint64_t *number, struct err *err);

/* Open one for reading. A descriptor, or -errno. The caller closes it. */
MUST_CHECK int bulk_open(struct store *st, uint64_t number, struct err *err);

/* Inside a transaction: a version refers to it from now on; or none does any more. */
void bulk_publish(struct store_tx *tx, uint64_t number);
void bulk_abandon(struct store_tx *tx, uint64_t number);

/* Remove the file and the pending row of one that nobody refers to. */
void bulk_remove(struct store *st, uint64_t number);

/* At start: remove what was pending. */
MUST_CHECK int bulk_recover(struct store *st, struct err *err);

#endif
