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
int artifacts_rename(const struct place *dir, const char *name, const struct place *new_dir,
		     const char *new_name, bool must_be_new, const struct node_new *by,
		     struct err *err);
extern const struct node_type artifacts_entries[];

#define ARTIFACTS_ROW(what)                                                                        \
	{                                                                                          \
		.name = "artifacts", .id = ID_ARTIFACTS, .mode = S_IFDIR | 0700,                   \
		.flags = NODE_SHOWS_STATE, .help = (what), .entries = artifacts_entries,           \
		.stat = artifacts_top_stat, .list = artifacts_list, .find = artifacts_find,        \
		.create = artifacts_create, .make = artifacts_make, .remove = artifacts_remove,    \
		.remove_dir = artifacts_remove_dir, .rename = artifacts_rename                     \
	}

/* A user's artifact has another name now: so do the links of sessions. */
void artifacts_link_moved(struct fs *fs, struct ref user, uint64_t item, const char *name);

/* For versions.c, which shows the same directories. */

/* Number of the directory that a place stands for. */
uint64_t artifacts_directory(const struct place *dir);

/* A component of ADK's file name from a file name. -ENOENT: it starts with a dot. */
MUST_CHECK int artifacts_decode(const char *name, struct buf *id, struct err *err);

int artifacts_directory_stat(const struct place *at, struct node_stat *st, struct err *err);

#endif
