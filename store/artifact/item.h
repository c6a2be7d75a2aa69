/*
 * Rows of artifacts and their directories: for artifact.c, inside transactions.
 *
 * KEY_NAME parent KEY_FILE name -> number; KEY_ITEM parent KEY_FILE number ->
 * item_fields. A deleted artifact keeps its item with
 * latest 0, a deleted directory with removed 1, so that version numbers are not
 * used again. KEY_ITEM directory KEY_NONE 0 -> record: stamp of its list,
 * whether mtime is set, mtime; there while the directory is.
 */
#ifndef STORE_ARTIFACT_ITEM_H
#define STORE_ARTIFACT_ITEM_H

#include "store/artifact/info.h"
#include "store/tx/key.h"
#include "store/tx/store.h"

MUST_CHECK int item_decode(struct span record, uint64_t number, struct artifact_info *a);

bool item_is_visible(const struct artifact_info *a);

/* By number, respectively by name; also what was deleted. -ENOENT: never there. */
MUST_CHECK int item_load(struct store_tx *tx, uint64_t parent, uint64_t number,
			 struct artifact_info *out);
MUST_CHECK int item_load_name(struct store_tx *tx, uint64_t parent, const char *name,
			      struct artifact_info *out);

void item_save(struct store_tx *tx, uint64_t parent, const struct artifact_info *a);
void item_save_name(struct store_tx *tx, uint64_t parent, const struct artifact_info *a);

/* Remove the record of something that is replaced under its name, and what was below it. */
void item_drop(struct store_tx *tx, uint64_t parent, uint64_t number);

/*
 * The record of a name that is to be seen from now on, under `number`: what is
 * remembered of it, or all new. 1: it is seen already; the record is *a then. -EISDIR.
 */
MUST_CHECK int item_claim(struct store_tx *tx, uint64_t parent, const char *name,
			  const char *full_name, uint64_t number, struct artifact_info *a);

/* The record says that v, just saved, is there. */
void item_note_version(struct artifact_info *a, const struct version_info *v);

/* A directory is there as long as its marker is. */
struct key item_marker(uint64_t directory);
void item_save_marker(struct store_tx *tx, uint64_t directory, uint64_t stamp, bool is_set,
		      int64_t mtime);
/* The times of a directory's list, into its description. */
MUST_CHECK int item_load_marker(struct store_tx *tx, struct artifact_info *a);

/* Tell the watcher. v: NULL if it is of no single version. */
MUST_CHECK int item_tell(struct store_tx *tx, enum change_kind kind, struct ref scope,
			 uint64_t parent, const struct artifact_info *a,
			 const struct version_info *v);

#endif
