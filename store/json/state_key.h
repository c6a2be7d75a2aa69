/*
 * State keys: which scope a key of a delta belongs to.
 *
 * The first prefix decides, and case counts: `app:user:x` is the app key
 * `user:x`. An unknown prefix is part of a session key.
 */
#ifndef STORE_JSON_STATE_KEY_H
#define STORE_JSON_STATE_KEY_H

#include "base/buf.h"

enum scope_kind {
	SCOPE_SESSION, /* order of the merged map */
	SCOPE_APP,
	SCOPE_USER,
	SCOPE_TEMP,
	SCOPE_KINDS,
};

/* Split a prefixed key; *bare is what the scope stores it under. */
enum scope_kind statekey_scope(struct span key, struct span *bare);

/* "" for the session, "app:", "user:", "temp:". */
const char *statekey_prefix(enum scope_kind kind);

bool statekey_is_temp(struct span key);

/*
 * -EINVAL for a key that is empty, also after its prefix, not UTF-8, holds a
 * NUL, or is too long for a file name.
 */
MUST_CHECK int statekey_check(struct span key, struct err *err);

#endif
