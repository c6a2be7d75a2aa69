/*
 * Fork: a new session that starts with a copy of another one, up to one of its events.
 */
#ifndef STORE_TIMELINE_FORK_H
#define STORE_TIMELINE_FORK_H

#include "store/session/session.h"

/*
 * Make a session of the same user with the lines of another session, byte for byte, up to and
 * with an event; empty: the last one. State, artifacts and turns are as they were after that
 * line. A turn that had not ended there becomes a failed turn. The old session may go on
 * meanwhile. The new session comes whole or not at all, even in a crash. The copy takes as much
 * memory as the state has, however long the log is. out: NULL is fine.
 *
 * Returns 0; -EEXIST: the user has a session `id`; -ENOENT: there is no such event; -EINVAL,
 * -ENAMETOOLONG: the id is invalid; -ESTALE: the old session is gone. Any thread.
 */
MUST_CHECK int session_fork(struct store *st, struct ref from, const char *id, struct span event,
			    struct ref *out, struct err *err);

#endif
