/*
 * memory/ of a user: which sessions are remembered, and what is found in them.
 */
#ifndef FS_NAMES_MEMORY_H
#define FS_NAMES_MEMORY_H

#include "fs/tree/ids.h"
#include "fs/tree/node.h"

extern const struct node_type memory_entries[];

/* The file of a query. */
extern const struct node_type memory_query;

/* A directory where each name is a query of the user in dir->ref, and a file with its matches. */
int memory_query_find(const struct place *dir, const char *name, struct place *child,
		      struct buf *text, struct err *err);

#endif
