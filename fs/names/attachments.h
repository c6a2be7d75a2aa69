/*
 * attachments/: files that are sent with the next message of a session. For the
 * contracts of the functions see struct node_type.
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
int attachments_rename(const struct node_rename *rn, struct err *err);

/* The type of members: an attachment. (Scratch files have &scratch_node.) */
extern const struct node_type attachments_members[];

#endif
