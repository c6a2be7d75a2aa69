/*
 * .adkfs: the directory of the daemon, a row of the root.
 */
#ifndef FS_NAMES_ADKFS_H
#define FS_NAMES_ADKFS_H

#include "fs/tree/node.h"

extern const struct node_type adkfs_entries[];

#endif
