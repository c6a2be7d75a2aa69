/*
 * Changes: what the kernel must forget after a change of the store.
 *
 * The rows of the node tables say which news make them stale (node_type.news).
 * Here each kind of change becomes news for the rows of an object, and the
 * names that come and go are told.
 */
#ifndef FS_NAMES_CHANGES_H
#define FS_NAMES_CHANGES_H

#include "store/tx/store.h"

struct fs;

/* The store's watcher; fs is the struct fs. Any thread; takes leaf locks only. */
void changes_notify(void *fs, const struct change *change);

/* A running turn said something or ended: the sizes of its files changed. */
void changes_progress(struct fs *fs, struct ref session, uint64_t turn_number);

#endif
