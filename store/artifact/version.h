/*
 * Rows of versions: for artifact.c, inside transactions.
 *
 * KEY_VERSION artifact n -> version_fields, flags, metadata. A version's bytes are the one whole
 * bulk, or its extents are in KEY_MAP artifact n. KEY_MAP artifact 0: numbers below the highest
 * that were never given, as extents; not there when there are none.
 */
#ifndef STORE_ARTIFACT_VERSION_H
#define STORE_ARTIFACT_VERSION_H

#include "store/artifact/extents.h"
#include "store/artifact/info.h"
#include "store/tx/store.h"

/* `artifact` is the number that the versions are kept under: artifact_info.history. */

/* -ENOENT. meta takes the custom metadata, an object, if that is not NULL. */
MUST_CHECK int version_load(struct store_tx *tx, uint64_t artifact, uint64_t n,
			    struct version_info *out, struct buf *meta);

/* Its bytes; nothing for a tombstone. */
MUST_CHECK int version_map(struct store_tx *tx, uint64_t artifact, const struct version_info *v,
			   struct extents *out);

/* Write a new version with the bytes of `map`, and set in *v where they are. */
MUST_CHECK int version_save(struct store_tx *tx, uint64_t artifact, struct version_info *v,
			    struct span meta, const struct extents *map);

/* Write a version again with other bytes. dead: as for version_drop(). */
MUST_CHECK int version_change(struct store_tx *tx, uint64_t artifact, struct version_info *v,
			      struct span meta, const struct extents *map, struct buf *dead);

/* Write a version again with the same bytes. */
void version_save_record(struct store_tx *tx, uint64_t artifact, const struct version_info *v,
			 struct span meta);

/* Remove one; all, which is told. Their bulks without a reference go to dead. */
MUST_CHECK int version_drop(struct store_tx *tx, uint64_t artifact, const struct version_info *v,
			    struct buf *dead);
MUST_CHECK int version_drop_all(struct store_tx *tx, struct ref scope, uint64_t artifact,
				struct buf *dead);

/* In order, numbers above `after` only. */
MUST_CHECK int version_scan(struct store_tx *tx, uint64_t artifact, uint64_t after, version_fn *fn,
			    void *arg);

/*
 * Take a number: the next one for n = 0, or else n, if it was never given.
 * Moves *highest. -EEXIST.
 */
MUST_CHECK int version_take_number(struct store_tx *tx, uint64_t artifact, uint64_t *highest,
				   uint64_t *n);

#endif
