/*
 * State: JSON values by key, in three scopes.
 *
 * A change through a session is an event of the session. A change of an app's or a user's state
 * outside of any session makes no event.
 */
#ifndef STORE_SESSION_STATE_H
#define STORE_SESSION_STATE_H

#include "store/json/state_key.h"
#include "store/session/value.h"

/* Append the text of a value as it was written. text and info: NULL is fine. -ENOENT. */
MUST_CHECK int state_get(struct store *st, struct ref scope, struct span key, struct buf *text,
			 struct state_info *info, struct err *err);

/* List the keys in the order of their numbers, with numbers above `after` only. */
typedef int state_fn(void *arg, struct span key, const struct state_info *info);
MUST_CHECK int state_list(struct store *st, struct ref scope, uint64_t after, state_fn *fn,
			  void *arg, struct err *err);

/*
 * Append the keys and values as one compact JSON object: for an app or a user its own keys, for a
 * session the keys of all three scopes, with their prefixes.
 */
MUST_CHECK int state_map(struct store *st, struct ref scope, struct buf *out, struct err *err);

/* Whether a scope can have this key, which has its prefix in a session. -EINVAL. */
MUST_CHECK int state_check_key(struct ref scope, struct span key, struct err *err);

/*
 * Set a key to one JSON value, which keeps its text. In a session the key may have a prefix
 * other than `temp:`, and the change is an event. number: the number for a new key, from
 * store_new_number(); 0: any. -EINVAL: the JSON or the key is invalid; -EFBIG; -ESTALE: the scope
 * is gone.
 */
MUST_CHECK int state_set(struct store *st, struct ref scope, struct span key, struct span text,
			 uint64_t number, struct err *err);

/* Delete a key. -ENOENT; -ESTALE: the scope is gone. */
MUST_CHECK int state_delete(struct store *st, struct ref scope, struct span key, struct err *err);

/*
 * Set each member of a JSON object in one transaction, in a session by one event. The `temp:`
 * keys of a session are appended to *temp as an object, if there are any. Errors as for
 * state_set().
 */
MUST_CHECK int state_set_all(struct store *st, struct ref scope, struct span object,
			     struct buf *temp, struct err *err);

/* Whether state_set_all() takes a text. Errors as for state_check_text(). */
MUST_CHECK int state_check_object(struct ref scope, struct span text, struct err *err);

/*
 * Whether a text is one JSON value that may be stored. -ENODATA: the text ends too early;
 * -EINVAL: no longer text would be valid either; -EFBIG.
 */
MUST_CHECK int state_check_text(struct span text, struct err *err);

#endif
