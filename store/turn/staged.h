/*
 * Staged messages: messages that were closed and not yet submitted as turns.
 */
#ifndef STORE_TURN_STAGED_H
#define STORE_TURN_STAGED_H

#include "store/json/message.h"
#include "store/tx/store.h"

/* Keep more of a message; piece: how many MiB-pieces were kept before (0: the first call). */
MUST_CHECK int message_stage(struct store *st, struct ref session, uint64_t message,
			     enum message_kind kind, uint64_t piece, struct span text,
			     struct err *err);

/* Every message that was staged and not submitted. */
typedef int message_fn(void *arg, struct ref session, uint64_t message, enum message_kind kind,
		       struct span text);
MUST_CHECK int message_staged(struct store *st, message_fn *fn, void *arg, struct err *err);

/* Forget a staged message. */
MUST_CHECK int message_drop(struct store *st, uint64_t message, struct err *err);

/* Delete the pieces of a staged message. */
MUST_CHECK int message_delete(struct store_tx *tx, uint64_t message);

#endif
