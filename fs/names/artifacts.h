/*
 * artifacts/: files of a session or a user that are stored in versions. For the
 * contracts of functions that a row names see struct node_type.
 */
#ifndef FS_NAMES_ARTIFACTS_H
#define FS_NAMES_ARTIFACTS_H

#include "fs/tree/ids.h"
#include "fs/tree/node.h"

int artifacts_top_stat(const struct place *at, struct node_stat *st, struct err *err);

/* The row of .versions. */
extern const struct node_type artifacts_entries[];

/* The types of members. */
enum artifacts_member { ARTIFACTS_FILE, ARTIFACTS_DIRECTORY, ARTIFACTS_LINK };
extern const struct node_type artifacts_members[];

#define ARTIFACTS_USER_PREFIX "user:" /* in a session: a link to the user's file */

/* A user's artifact was renamed: give the links in sessions the new target. */
void artifacts_link_moved(struct fs *fs, struct ref user, uint64_t item, const char *name);

/* The rest is for versions.c and context_artifacts.c too, which show the same directories. */

/* The attributes of a stored artifact or directory. */
void artifacts_show(const struct artifact_info *info, struct node_stat *st);

/* The number of the directory at a place. */
uint64_t artifacts_directory(const struct place *dir);

/*
 * Decode a file name to a component of an ADK file name. Returns 0; -ENOENT: the file name
 * starts with a dot; -EINVAL: no artifact has such a name; -ENOMEM.
 */
MUST_CHECK int artifacts_decode(const char *name, struct buf *id, struct err *err);

int artifacts_directory_stat(const struct place *at, struct node_stat *st, struct err *err);

extern const struct dir_ops artifacts_ops;

#endif
