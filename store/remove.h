/*
 * Removing an app, a user or a session, with all that it holds.
 */
#ifndef STORE_REMOVE_H
#define STORE_REMOVE_H

#include "store/tx/store.h"

/*
 * Remove a session with all it holds, or an app or a user that has no members.
 * -ENOENT; -ENOTEMPTY.
 */
MUST_CHECK int scope_remove(struct store *st, struct ref ref, struct err *err);

#endif
