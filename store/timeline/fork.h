/*
 * Fork: a session goes on twice from one of its events.
 */
#ifndef STORE_TIMELINE_FORK_H
#define STORE_TIMELINE_FORK_H

#include "store/session/session.h"

/*
 * Make a session of the same user with the lines of another up to an event
 * (empty: the last one), byte for byte; state, artifacts and turns are as they
 * were behind that line. A turn that had not ended there is closed as failed.
 * The other session may go on meanwhile. The new one is there whole or not at
 * all, also after a crash; memory is needed for its state, not for its log.
 *
 * Returns 0; -EEXIST: the user has a session `id`; -ENOENT: no such event;
 * -EINVAL, -ENAMETOOLONG: a bad id; -ESTALE: the session is gone. Any thread.
 */
MUST_CHECK int session_fork(struct store *st, struct ref from, const char *id, struct span event,
			    struct ref *out, struct err *err);

/* At start: remove what was copied for sessions that never came to be. */
MUST_CHECK int fork_recover(struct store *st, struct err *err);

#endif
