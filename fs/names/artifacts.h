/*
 * artifacts/: files of a session or a user, kept in versions.
 */
#ifndef FS_NAMES_ARTIFACTS_H
#define FS_NAMES_ARTIFACTS_H

#include "fs/tree/ids.h"
#include "fs/tree/node.h"

int artifacts_top_stat(const struct place *at, struct node_stat *st, struct err *err);
int artifacts_list(const struct place *dir, uint64_t after, struct lister *l, struct err *err);
int artifacts_find(const struct place *dir, const char *name, struct place *child, struct buf *text,
		   struct err *err);
int artifacts_create(const struct place *dir, const char *name, const struct node_new *by,
		     struct place *child, struct buf *text, struct err *err);
int artifacts_make(const struct place *dir, const char *name, const struct node_new *by,
		   struct err *err);
int artifacts_remove(const struct place *dir, const char *name, struct err *err);
int artifacts_remove_dir(const struct place *dir, const char *name, struct err *err);
int artifacts_rename(const struct node_rename *rn, struct err *err);

/* .versions */
extern const struct node_type artifacts_entries[];

/* What a member may be. */
enum artifacts_member { ARTIFACTS_FILE, ARTIFACTS_DIRECTORY, ARTIFACTS_LINK };
extern const struct node_type artifacts_members[];

#define ARTIFACTS_USER_PREFIX "user:" /* of a link to the user's file, seen from a session */

/* A user's artifact has another name now: so do the links of sessions. */
void artifacts_link_moved(struct fs *fs, struct ref user, uint64_t item, const char *name);

/* For versions.c, which shows the same directories. */

/* Number of the directory that a place stands for. */
uint64_t artifacts_directory(const struct place *dir);

/* A component of ADK's file name from a file name. -ENOENT: it starts with a dot. */
MUST_CHECK int artifacts_decode(const char *name, struct buf *id, struct err *err);

int artifacts_directory_stat(const struct place *at, struct node_stat *st, struct err *err);

#endif
