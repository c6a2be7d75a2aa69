/*
 * The seal of a session: the offset up to which its log is folded into segments.
 *
 * Row: KEY_SEAL session -> the offset. A session has the row from its making to its removal. Only
 * folding changes it, so that folding and appending never write to the same row.
 */
#ifndef STORE_SESSION_SEAL_H
#define STORE_SESSION_SEAL_H

#include "store/tx/store.h"

/* All inside a transaction. seal_load(): -ENOENT: the session was removed. */
MUST_CHECK int seal_load(struct store_tx *tx, uint64_t session, uint64_t *offset);
void seal_save(struct store_tx *tx, uint64_t session, uint64_t offset);
void seal_delete(struct store_tx *tx, uint64_t session);

#endif
