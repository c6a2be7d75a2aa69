/*
 * Deleted: the state keys that an event deletes, which it lists in
 * customMetadata["adkfs.deleted"]. There may be as many as fit into a line.
 */
#ifndef STORE_JSON_DELETED_H
#define STORE_JSON_DELETED_H

#include "base/buf.h"
#include "base/err.h"

#define DELETED_MEMBER "adkfs.deleted"

struct deleted_key {
	size_t at; /* in the text */
	size_t len;
	bool met; /* for who compares them with others */
};

/* All-zero: none. */
struct deleted {
	struct buf text;
	struct buf keys; /* struct deleted_key, in order, each once */
};

/* Read them. metadata: JSON text; empty: there is none. -EINVAL: no list of texts; -ENOMEM. Release
 * it in any case. */
MUST_CHECK int deleted_read(struct span metadata, struct deleted *out, struct err *err);
void deleted_release(struct deleted *d);

/* NULL: it is not among them. Valid as long as d is. */
struct deleted_key *deleted_find(const struct deleted *d, struct span key);

/* The next that is not met; *at starts as 0. False: there is no other. */
bool deleted_unmet(const struct deleted *d, size_t *at, struct span *name);

#endif
