/*
 * State keys: see state_key.h.
 */
#include "store/json/state_key.h"

#include "base/name.h"

#include <errno.h>

static const char *const prefixes[SCOPE_KINDS] = {
	[SCOPE_SESSION] = "",
	[SCOPE_APP] = "app:",
	[SCOPE_USER] = "user:",
	[SCOPE_TEMP] = "temp:",
};

const char *statekey_prefix(enum scope_kind kind)
{
	return prefixes[kind];
}

enum scope_kind statekey_scope(struct span key, struct span *bare)
{
	int kind;

	for (kind = SCOPE_APP; kind < SCOPE_KINDS; kind++) {
		size_t n = strlen(prefixes[kind]);

		if (key.len >= n && !memcmp(key.data, prefixes[kind], n)) {
			*bare = span_sub(key, n, key.len);
			return (enum scope_kind)kind;
		}
	}
	*bare = key;
	return SCOPE_SESSION;
}

bool statekey_is_temp(struct span key)
{
	struct span bare;

	return statekey_scope(key, &bare) == SCOPE_TEMP;
}

int statekey_check(struct span key, struct err *err)
{
	CLEANUP(buf_release) struct buf name = { 0 };
	struct span bare;
	int r;

	(void)statekey_scope(key, &bare);
	if (!bare.len)
		return err_set(err, -EINVAL, "the state key '%.*s' is empty%s", (int)key.len,
			       key.data, key.len ? " after its prefix" : "");
	if (memchr(key.data, 0, key.len))
		return err_set(err, -EINVAL, "a state key holds a NUL");
	r = name_encode(key, NAME_PLAIN, &name, err);
	if (r == 0 && name.len + strlen(".json") > NAME_LEN_MAX)
		r = err_set(err, -EINVAL, "the state key '%.60s...' is too long for a file name",
			    name.data);
	return r == -ENAMETOOLONG ? -EINVAL : r;
}
