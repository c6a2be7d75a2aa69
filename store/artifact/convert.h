/*
 * Converting the artifacts of an older store (store/format.h).
 */
#ifndef STORE_ARTIFACT_CONVERT_H
#define STORE_ARTIFACT_CONVERT_H

#include "store/tx/store.h"

/* The extents of each version are divided into pages. Before the other conversions. */
MUST_CHECK int artifact_convert_pages(struct store *st, struct err *err);

/* The bytes of each bulk get checksums. After artifact_convert_refs(). */
MUST_CHECK int artifact_convert_sums(struct store *st, struct err *err);

/* Each bulk of a version gets its KEY_REF row; in format 1 only those of several versions had it.
 */
MUST_CHECK int artifact_convert_refs(struct store *st, struct err *err);

#endif
