/*
 * turns/<n>/calls/: the directory of a turn's calls of tools. For the contracts of
 * the functions see struct node_type.
 */
#ifndef FS_NAMES_CALLS_H
#define FS_NAMES_CALLS_H

#include "fs/tree/node.h"

extern const struct node_type call_dir; /* calls/<id> */

extern const struct dir_ops calls_dir_ops;

#endif
