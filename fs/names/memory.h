/*
 * memory/ of a user: which sessions are remembered, and what is found in them.
 */
#ifndef FS_NAMES_MEMORY_H
#define FS_NAMES_MEMORY_H

#include "fs/tree/ids.h"
#include "fs/tree/node.h"

extern const struct node_type memory_entries[];

#define MEMORY_ROW                                                                                 \
	{                                                                                          \
		.name = "memory", .id = ID_MEMORY, .mode = S_IFDIR | 0700,                         \
		.help = "what the user's agents can remember", .entries = memory_entries           \
	}

/* A directory where each name is a query of the user in dir->ref, and a file with its matches. */
int memory_query_find(const struct place *dir, const char *name, struct place *child,
		      struct buf *text, struct err *err);

/* For tree/notify.c: of the store's changes those with CHANGE_MEMORY... */
void memory_notify(struct fs *fs, const struct change *c);

#endif
