/*
 * Extents: the bulks that hold the bytes of a version.
 *
 * A list of extents is in order and without overlaps. Bytes that no extent covers are zeros.
 */
#ifndef STORE_ARTIFACT_EXTENTS_H
#define STORE_ARTIFACT_EXTENTS_H

#include "base/buf.h"

struct extent {
	uint64_t start; /* offset in the version */
	uint64_t len;   /* bytes */
	uint64_t bulk;
	uint64_t at; /* offset in the bulk */
};

/* All zero is an empty list. */
struct extents {
	struct extent *list;
	size_t count;
	size_t cap;
};

void extents_release(struct extents *x);

/* Add an extent, which replaces what was there. -ENOMEM. */
MUST_CHECK int extents_put(struct extents *x, struct extent e);

/* Make [from, to) zeros. -ENOMEM. */
MUST_CHECK int extents_cut(struct extents *x, uint64_t from, uint64_t to);

/* Index of the first extent that ends after `offset`; count if there is none. */
size_t extents_find(const struct extents *x, uint64_t offset);

/* Copy a list to *to, which holds nothing. -ENOMEM. */
MUST_CHECK int extents_copy(struct extents *to, const struct extents *from);

/* Append the numbers of all bulks as uint64_t, each once, in order. */
void extents_bulks(const struct extents *x, struct buf *numbers);

/* Convert to a record; append the extents of a record. -EIO: the record is damaged; -ENOMEM. */
void extents_encode(const struct extents *x, struct buf *record);
MUST_CHECK int extents_decode(struct span record, struct extents *x);

#endif
