/*
 * Changes: make the kernel forget what a change of the store made stale.
 *
 * The rows of the node tables say which news make them stale (node_type.news).
 * Here each kind of change is converted to news for the rows of an object, and to
 * names that the kernel must drop.
 */
#ifndef FS_NAMES_CHANGES_H
#define FS_NAMES_CHANGES_H

#include "store/tx/store.h"

struct fs;

/* The watcher for store_watch(); fs is the struct fs. Any thread; locks only leaf locks. */
void changes_notify(void *fs, const struct change *change);

/* A running turn made progress or ended: the sizes of its files changed. Any thread. */
void changes_progress(struct fs *fs, struct ref session, uint64_t turn_number);

#endif
