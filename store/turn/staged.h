/*
 * Staged messages: messages that were closed and are not submitted as turns yet.
 *
 * A close stores the message, so that a crash before the submission does not lose it.
 */
#ifndef STORE_TURN_STAGED_H
#define STORE_TURN_STAGED_H

#include "store/json/message.h"
#include "store/tx/store.h"

struct staged_message {
	struct ref session;
	uint64_t number; /* from store_new_number() */
	enum message_kind kind;
};

/*
 * Store more of a message, in pieces of ENGINE_VALUE_MAX bytes. pieces: the number of pieces
 * that were stored before; 0 in the first call.
 */
MUST_CHECK int message_stage(struct store *st, const struct staged_message *message,
			     uint64_t pieces, struct span text, struct err *err);

/* List all staged messages. Not 0 from fn ends the walk and is returned. */
typedef int message_fn(void *arg, const struct staged_message *message, struct span text);
MUST_CHECK int message_staged(struct store *st, message_fn *fn, void *arg, struct err *err);

/* Forget a staged message; one that is not there is fine. */
MUST_CHECK int message_drop(struct store *st, uint64_t message, struct err *err);

/* Inside a transaction: delete a staged message; one that is not there is fine. */
MUST_CHECK int message_delete(struct store_tx *tx, uint64_t message);

#endif
