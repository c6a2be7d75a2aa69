/*
 * artifacts/ from inside: for the files artifacts*.c.
 */
#ifndef FS_NAMES_ARTIFACTS_INSIDE_H
#define FS_NAMES_ARTIFACTS_INSIDE_H

#include "fs/draft/draft.h"
#include "fs/draft/scratch.h"
#include "fs/names/artifacts.h"
#include "store/artifact/artifact.h"

/* artifacts/ of a session, and no directory in it. */
bool artifacts_is_top(const struct place *dir);

/* Whether an ADK name is a user's file seen from a session; *rest is its own name. */
bool artifacts_is_user_name(const struct place *dir, const char *id, const char **rest);

/* ADK's file name of an entry. -ENAMETOOLONG. */
MUST_CHECK int artifacts_full_name(const struct place *dir, const char *id, char *out, size_t size,
				   struct err *err);

/* Places of entries, without a name: one that is stored; one that is not, or is scratch. */
void artifacts_stored_place(const struct place *dir, const struct artifact_info *info,
			    struct place *child);
void artifacts_new_place(const struct place *dir, const struct scratch_info *info,
			 struct place *child);

/* Copy what child->name points at, which is about to go, to text. */
MUST_CHECK int artifacts_own_name(struct place *child, struct buf *text, struct err *err);

void artifacts_show(const struct artifact_info *info, struct node_stat *st);

/*
 * The artifact of that name, if there is one, is about to go or to be called otherwise: what
 * was closed before is saved before, and who has it open keeps those bytes.
 */
void artifacts_settle(struct fs *fs, uint64_t dir, const char *id);

/* Remove a file that was not saved yet. False: it is saved meanwhile. */
bool artifacts_remove_unsaved(struct fs *fs, uint64_t number);

#endif
