/*
 * The inside of artifacts/, for the files artifacts*.c only.
 */
#ifndef FS_NAMES_ARTIFACTS_INSIDE_H
#define FS_NAMES_ARTIFACTS_INSIDE_H

#include "fs/draft/draft.h"
#include "fs/draft/scratch.h"
#include "fs/names/artifacts.h"
#include "store/artifact/artifact.h"

/* Whether a place is artifacts/ of a session, not a directory in it. */
bool artifacts_is_top(const struct place *dir);

/* Whether an ADK name is the name of a user's file in a session; *rest: without the prefix. */
bool artifacts_is_user_name(const struct place *dir, const char *id, const char **rest);

/* The ADK file name of an entry `id` of a directory. Returns 0; -ENAMETOOLONG. */
MUST_CHECK int artifacts_full_name(const struct place *dir, const char *id, char *out, size_t size,
				   struct err *err);

/*
 * The place of a stored entry, without its name; the place of a scratch file or of a new artifact,
 * whose name is borrowed from info.
 */
void artifacts_stored_place(const struct place *dir, const struct artifact_info *info,
			    struct place *child);
void artifacts_new_place(const struct place *dir, const struct scratch_info *info,
			 struct place *child);

/*
 * Prepare for the removal, replacement or rename of the artifact `id` of a directory, if there is
 * one: save its closed drafts, and load the bytes into opens that read it.
 */
void artifacts_settle(struct fs *fs, uint64_t dir, const char *id);

/* Remove a file that was not saved yet. False: the file has been saved in the meantime. */
bool artifacts_remove_unsaved(struct fs *fs, uint64_t number);

/* Entries of artifacts_ops that have files of their own. */
MUST_CHECK int artifacts_list(const struct place *dir, uint64_t after, struct lister *l,
			      struct err *err);
MUST_CHECK int artifacts_find(const struct place *dir, const char *name, struct place *child,
			      struct buf *text, struct err *err);
MUST_CHECK int artifacts_rename(const struct node_rename *rn, struct err *err);

#endif
