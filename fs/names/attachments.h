/*
 * attachments/: files that ride along with the next message of a session.
 */
#ifndef FS_NAMES_ATTACHMENTS_H
#define FS_NAMES_ATTACHMENTS_H

#include "fs/tree/ids.h"
#include "fs/tree/node.h"

int attachments_dir_stat(const struct place *at, struct node_stat *st, struct err *err);
int attachments_list(const struct place *dir, uint64_t after, struct lister *l, struct err *err);
int attachments_find(const struct place *dir, const char *name, struct place *child,
		     struct buf *text, struct err *err);
int attachments_create(const struct place *dir, const char *name, const struct node_new *by,
		       struct place *child, struct buf *text, struct err *err);
int attachments_remove(const struct place *dir, const char *name, struct err *err);
int attachments_rename(const struct place *dir, const char *name, const struct place *new_dir,
		       const char *new_name, bool must_be_new, const struct node_new *by,
		       struct err *err);

#define ATTACHMENTS_ROW                                                                            \
	{                                                                                          \
		.name = "attachments", .id = ID_ATTACHMENTS, .mode = S_IFDIR | 0700,               \
		.help = "files put here ride along with the next message",                         \
		.stat = attachments_dir_stat, .list = attachments_list, .find = attachments_find,  \
		.create = attachments_create, .remove = attachments_remove,                        \
		.rename = attachments_rename                                                       \
	}

#endif
