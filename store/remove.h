/*
 * Removing an app, a user or a session.
 */
#ifndef STORE_REMOVE_H
#define STORE_REMOVE_H

#include "store/tx/store.h"

/*
 * Remove a session with everything in it. An app must have no users, and a user no sessions.
 * -ENOENT; -ENOTEMPTY. Any thread.
 */
MUST_CHECK int scope_remove(struct store *st, struct ref ref, struct err *err);

#endif
