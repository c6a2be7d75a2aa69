/*
 * turns/<n>/calls/: the directory of a turn's calls of tools. For the contracts of
 * the functions see struct node_type.
 */
#ifndef FS_NAMES_CALLS_H
#define FS_NAMES_CALLS_H

#include "fs/tree/node.h"

extern const struct node_type call_dir; /* calls/<id> */

int calls_dir_stat(const struct place *at, struct node_stat *st, struct err *err);
int calls_dir_find(const struct place *dir, const char *name, struct place *child, struct buf *text,
		   struct err *err);
int calls_dir_list(const struct place *dir, uint64_t after, struct lister *l, struct err *err);

#endif
