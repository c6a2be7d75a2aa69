/*
 * Values: the rows of state keys. All functions work inside a transaction.
 */
#ifndef STORE_SESSION_VALUE_H
#define STORE_SESSION_VALUE_H

#include "store/session/scope.h"

struct state_info {
	uint64_t item;  /* number of the key */
	uint64_t stamp; /* ns; the last change */
	size_t size;    /* bytes of the value, without a final newline */
};

/* A decoded row of KEY_NAME scope KEY_STATE. */
struct state_value {
	struct state_info info;
	struct span text; /* borrowed from the record */
};
MUST_CHECK int state_decode(struct span record, struct state_value *v);

/*
 * Set a key to a text, or remove a key if it is there. *info is the scope's record: it changes,
 * and the caller saves it.
 */
MUST_CHECK int state_put(struct store_tx *tx, struct ref scope, struct scope_info *info,
			 struct span key, struct span text, uint64_t stamp);
MUST_CHECK int state_drop(struct store_tx *tx, struct ref scope, struct scope_info *info,
			  struct span key, uint64_t stamp);

#endif
