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
};

/*
 * Open a store; a missing one is made.
 *
 * Returns 0; -EBUSY: another daemon has it (err says which process); -EINVAL:
 * another format, or an unknown engine; -errno.
 */
MUST_CHECK int store_open(const struct store_options *options, struct store **out, struct err *err);

/* Close and free a store, which nobody uses any more. NULL is fine. */
void store_close(struct store *st);

#endif
