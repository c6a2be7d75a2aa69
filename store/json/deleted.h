/*
 * Deleted: the state keys that an event deletes.
 *
 * An event lists them in customMetadata["adkfs.deleted"], as many as fit into a line.
 */
#ifndef STORE_JSON_DELETED_H
#define STORE_JSON_DELETED_H

#include "base/buf.h"
#include "base/err.h"

#define DELETED_MEMBER "adkfs.deleted"

struct deleted_key {
	size_t at; /* place in the text */
	size_t len;
	bool met; /* a mark of the caller, for deleted_unmet() */
};

/* All zero is an empty list. */
struct deleted {
	struct buf text;
	struct buf keys; /* struct deleted_key, sorted, each name once */
};

/*
 * Read the keys. metadata: customMetadata; empty: the event has none. -EINVAL: the member is not
 * a list of strings; -ENOMEM. Call deleted_release() in any case.
 */
MUST_CHECK int deleted_read(struct span metadata, struct deleted *out, struct err *err);
void deleted_release(struct deleted *d);

/* Find a key. NULL: the event does not delete it. Borrowed until d is released. */
struct deleted_key *deleted_find(const struct deleted *d, struct span key);

/* Take the next key that is not met. *at starts as 0. False: there are no more. */
bool deleted_unmet(const struct deleted *d, size_t *at, struct span *name);

#endif
