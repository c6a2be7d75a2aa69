/*
 * memory/ of a user: the remembered sessions, and the search in them.
 */
#ifndef FS_NAMES_MEMORY_H
#define FS_NAMES_MEMORY_H

#include "fs/tree/ids.h"
#include "fs/tree/node.h"

extern const struct node_type memory_entries[];

/* The type of a query's file. */
extern const struct node_type memory_query;

/* The find() of a directory in which each name is a query in the memory of dir->ref's user. */

extern const struct dir_ops memory_query_ops;

#endif
