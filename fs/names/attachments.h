/*
 * attachments/: files that are sent with the next message of a session. For the
 * contracts of the functions see struct node_type.
 */
#ifndef FS_NAMES_ATTACHMENTS_H
#define FS_NAMES_ATTACHMENTS_H

#include "fs/tree/ids.h"
#include "fs/tree/node.h"

int attachments_dir_stat(const struct place *at, struct node_stat *st, struct err *err);

/* The type of members: an attachment. (Scratch files have &scratch_node.) */
extern const struct node_type attachments_members[];

extern const struct dir_ops attachments_ops;

#endif
