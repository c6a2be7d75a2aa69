/*
 * Opening and closing a store: a folder that one process uses at a time.
 */
#ifndef STORE_OPEN_H
#define STORE_OPEN_H

#include "store/tx/store.h"

struct store_options {
	const char *folder;
	const char *engine; /* NULL: rocksdb */
	enum durability durability;
	store_say_fn *say; /* while an older store is converted; NULL: nothing is said */
};

/*
 * Open a store, and make it if the folder has none. An older store is converted first.
 * store_close() frees *out.
 *
 * Returns 0; -EBUSY: another process uses the store, and err names the process; -EINVAL: the
 * store has another format, or the engine is unknown; -errno.
 */
MUST_CHECK int store_open(const struct store_options *options, struct store **out, struct err *err);

/* Let the janitor drop the rows of removed scopes (timeline/loose.h). Any thread. */
void store_drop_soon(struct store *st);

/* Close and free a store that no thread uses any more. NULL is fine. */
void store_close(struct store *st);

#endif
