/*
 * Items: the rows of artifacts and of their directories. All functions work inside a transaction.
 *
 * KEY_NAME parent KEY_FILE name -> number; KEY_ITEM parent KEY_FILE number -> item_fields. A
 * deleted artifact keeps its item with latest 0, and a deleted directory with removed 1, so that
 * version numbers are not used again. A directory has a marker while it exists: KEY_ITEM
 * directory KEY_NONE 0 -> record: stamp of its list, whether mtime is set, mtime.
 */
#ifndef STORE_ARTIFACT_ITEM_H
#define STORE_ARTIFACT_ITEM_H

#include "store/artifact/info.h"
#include "store/tx/key.h"
#include "store/tx/store.h"

/* Decode a row of KEY_ITEM. -EIO. */
MUST_CHECK int item_decode(struct span record, uint64_t number, struct artifact_info *a);

/* Whether an artifact or directory exists and is not deleted or hidden. */
bool item_is_visible(const struct artifact_info *a);

/* Read an item by its number or by its name, even a deleted one. -ENOENT: it never existed. */
MUST_CHECK int item_load(struct store_tx *tx, uint64_t parent, uint64_t number,
			 struct artifact_info *out);
MUST_CHECK int item_load_name(struct store_tx *tx, uint64_t parent, const char *name,
			      struct artifact_info *out);

/* Write an item; write the row of its name. */
void item_save(struct store_tx *tx, uint64_t parent, const struct artifact_info *a);
void item_save_name(struct store_tx *tx, uint64_t parent, const struct artifact_info *a);

/* Delete an item that another one replaces, and the rows below it. */
void item_drop(struct store_tx *tx, uint64_t parent, uint64_t number);

/*
 * Make the item of a name that becomes visible, with this number. A deleted name keeps its history.
 * Returns 0; 1: the name is visible already, and *a is its item; -EISDIR.
 */
MUST_CHECK int item_claim(struct store_tx *tx, uint64_t parent, const char *name,
			  const char *full_name, uint64_t number, struct artifact_info *a);

/* Note in an item that a version was saved. */
void item_note_version(struct artifact_info *a, const struct version_info *v);

/* The marker of a directory: its key; writing it; reading the times in it to *a. */
struct key item_marker(uint64_t directory);
void item_save_marker(struct store_tx *tx, uint64_t directory, uint64_t stamp, bool is_set,
		      int64_t mtime);
MUST_CHECK int item_load_marker(struct store_tx *tx, struct artifact_info *a);

/* Tell the watcher of a change. v: the version that changed; NULL: the artifact did. -ENOMEM. */
MUST_CHECK int item_tell(struct store_tx *tx, enum change_kind kind, struct ref scope,
			 uint64_t parent, const struct artifact_info *a,
			 const struct version_info *v);

#endif
