/*
 * Versions: their rows. All functions work inside a transaction.
 *
 * KEY_VERSION artifact n -> version_fields, flags, metadata, pages. The bytes of a version are one
 * whole bulk, or the rows KEY_MAP artifact n page have its extents, VERSION_PAGE in each row.
 * KEY_MAP artifact 0 has the numbers below the highest one that were never used, as extents, if
 * there are any.
 */
#ifndef STORE_ARTIFACT_VERSION_H
#define STORE_ARTIFACT_VERSION_H

#include "store/artifact/extents.h"
#include "store/artifact/info.h"
#include "store/tx/store.h"

#define VERSION_PAGE 1024

/* In all functions `artifact` is artifact_info.history. */

/* Read a version. The custom metadata, an object, is appended to meta; NULL is fine. -ENOENT. */
MUST_CHECK int version_load(struct store_tx *tx, uint64_t artifact, uint64_t n,
			    struct version_info *out, struct buf *meta);

/* Read the extents of a version; none for a tombstone. */
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

/*
 * Delete one version, or all versions and tell the watcher of each. The numbers of bulks that
 * have no reference any more are appended to `dead`.
 */
MUST_CHECK int version_drop(struct store_tx *tx, uint64_t artifact, const struct version_info *v,
			    struct buf *dead);
MUST_CHECK int version_drop_all(struct store_tx *tx, struct ref scope, uint64_t artifact,
				struct buf *dead);

/* Convert a version of format 1, which has all extents in one row; others stay. */
MUST_CHECK int version_convert(struct store_tx *tx, uint64_t artifact, uint64_t n);

/* Call fn for each version in order, with numbers above `after` only. */
MUST_CHECK int version_scan(struct store_tx *tx, uint64_t artifact, uint64_t after, version_fn *fn,
			    void *arg);

/*
 * Take a version number: *n, or the next one if *n is 0. Sets *n and *highest. -EEXIST: *n was
 * used already.
 */
MUST_CHECK int version_take_number(struct store_tx *tx, uint64_t artifact, uint64_t *highest,
				   uint64_t *n);

#endif
