/*
 * State: JSON values by key, in three scopes.
 *
 * A change in a session is an event (or part of one); a change at an app's or
 * a user's own directory belongs to no session and leaves none.
 */
#ifndef STORE_SESSION_STATE_H
#define STORE_SESSION_STATE_H

#include "store/json/state_key.h"
#include "store/session/value.h"

/* The value's text as last written, to text if that is not NULL. -ENOENT. */
MUST_CHECK int state_get(struct store *st, struct ref scope, struct span key, struct buf *text,
			 struct state_info *info, struct err *err);

/* In order of item, items above `after` only. Not 0 from fn ends it. */
typedef int state_fn(void *arg, struct span key, const struct state_info *info);
MUST_CHECK int state_list(struct store *st, struct ref scope, uint64_t after, state_fn *fn,
			  void *arg, struct err *err);

/*
 * Append the map as one compact JSON object. For a session all three scopes
 * are merged, with their prefixes; for an app or a user only its own keys.
 */
MUST_CHECK int state_map(struct store *st, struct ref scope, struct buf *out, struct err *err);

/* Whether a scope can have this key, with its prefix in a session: 0 or -EINVAL. */
MUST_CHECK int state_check_key(struct ref scope, struct span key, struct err *err);

/*
 * Set a key to one JSON value, kept as written. For a session the key may
 * have a prefix (not `temp:`), and the change is an event.
 * number: what a new key gets, of store_new_number(); 0: any.
 * -EINVAL bad JSON or key; -EFBIG; -ESTALE the scope is gone.
 */
MUST_CHECK int state_set(struct store *st, struct ref scope, struct span key, struct span text,
			 uint64_t number, struct err *err);

/* Delete a key. -ENOENT. */
MUST_CHECK int state_delete(struct store *st, struct ref scope, struct span key, struct err *err);

/*
 * Set each member of a JSON object; all at once, in a session as one event.
 * temp takes the members that are `temp:` keys, as an object; empty without.
 */
MUST_CHECK int state_set_all(struct store *st, struct ref scope, struct span object,
			     struct buf *temp, struct err *err);

/* Whether text may be written to state.json of the scope. As state_check_text. */
MUST_CHECK int state_check_object(struct ref scope, struct span text, struct err *err);

/*
 * Whether text is one JSON value that may be stored: 0; -ENODATA not yet, more
 * may follow; -EINVAL never; -EFBIG.
 */
MUST_CHECK int state_check_text(struct span text, struct err *err);

#endif
