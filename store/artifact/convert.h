/*
 * Converting the artifacts of an older store (store/format.h).
 */
#ifndef STORE_ARTIFACT_CONVERT_H
#define STORE_ARTIFACT_CONVERT_H

#include "store/tx/store.h"

/* Each bulk of a version gets its KEY_REF row; in format 1 only those of several versions had it.
 */
MUST_CHECK int artifact_convert_refs(struct store *st, struct err *err);

#endif
