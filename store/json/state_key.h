/*
 * State keys: the scope to which a key of a delta belongs.
 *
 * The first prefix decides, and its case matters: `app:user:x` is the key `user:x` of the app.
 * An unknown prefix is a part of a session key.
 */
#ifndef STORE_JSON_STATE_KEY_H
#define STORE_JSON_STATE_KEY_H

#include "base/buf.h"

enum scope_kind {
	SCOPE_SESSION,
	SCOPE_APP,
	SCOPE_USER,
	SCOPE_TEMP,
	SCOPE_KINDS,
};

/* Split a key. *bare is the key without its prefix, as the scope stores it. */
enum scope_kind statekey_scope(struct span key, struct span *bare);

/* The prefix of a scope: "" for the session, "app:", "user:" or "temp:". */
const char *statekey_prefix(enum scope_kind kind);

bool statekey_is_temp(struct span key);

/*
 * Check a key with its prefix. -EINVAL: the key is empty, or empty after its prefix, or not
 * UTF-8, or has a NUL, or is too long for a file name.
 */
MUST_CHECK int statekey_check(struct span key, struct err *err);

#endif
