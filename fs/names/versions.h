/*
 * artifacts/.versions: every version of every name.
 */
#ifndef FS_NAMES_VERSIONS_H
#define FS_NAMES_VERSIONS_H

#include "fs/tree/node.h"

int versions_list(const struct place *dir, uint64_t after, struct lister *l, struct err *err);
int versions_find(const struct place *dir, const char *name, struct place *child, struct buf *text,
		  struct err *err);

#endif
