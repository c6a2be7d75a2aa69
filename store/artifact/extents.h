/*
 * Extents: which bulk holds which bytes of a version.
 *
 * A list in order, without overlaps; what no extent covers reads as zeros.
 */
#ifndef STORE_ARTIFACT_EXTENTS_H
#define STORE_ARTIFACT_EXTENTS_H

#include "base/buf.h"

struct extent {
	uint64_t start; /* in the version */
	uint64_t len;   /* bytes */
	uint64_t bulk;
	uint64_t at; /* in the bulk */
};

/* All zero is an empty list. */
struct extents {
	struct extent *list;
	size_t count;
	size_t cap;
};

void extents_release(struct extents *x);

/* Bytes come from e from now on, whatever they came from before. 0 or -ENOMEM. */
MUST_CHECK int extents_put(struct extents *x, struct extent e);

/* Bytes in [from, to) are zeros. 0 or -ENOMEM. */
MUST_CHECK int extents_cut(struct extents *x, uint64_t from, uint64_t to);

/* Index of the first extent that ends behind offset; count if there is none. */
size_t extents_find(const struct extents *x, uint64_t offset);

MUST_CHECK int extents_copy(struct extents *to, const struct extents *from);

/* Append the numbers of all bulks, each once, in order, as uint64_t. */
void extents_bulks(const struct extents *x, struct buf *numbers);

/* Convert to a record and back. -EIO: the record is damaged. */
void extents_encode(const struct extents *x, struct buf *record);
MUST_CHECK int extents_decode(struct span record, struct extents *x);

#endif
