/*
 * .adkfs: the entries of its row in the root.
 */
#ifndef FS_ADKFS_H
#define FS_ADKFS_H

#include "fs/node.h"

extern const struct node_type adkfs_entries[];

#endif
