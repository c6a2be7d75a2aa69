/*
 * Changes: make the kernel forget what a change of the store made stale.
 *
 * The rows of the node tables say which news make them stale (node_type.news).
 * Here each kind of change is converted to news for the rows of an object, and to
 * names that the kernel must drop.
 */
#ifndef FS_NAMES_CHANGES_H
#define FS_NAMES_CHANGES_H

#include "base/name.h"
#include "store/tx/store.h"

struct fs;

/* The watcher for store_watch(); fs is the struct fs. Any thread; locks only leaf locks. */
void changes_notify(void *fs, const struct change *change);

/*
 * Drop the name of an id in a directory: the id was made, removed or renamed, and the kernel may
 * cache the name as missing, or with the inode of a file that was never stored. Any thread.
 */
void changes_drop_name(struct fs *fs, uint64_t dir, const char *id, enum name_style style);

/* A running turn made progress or ended: the sizes of its files changed. Any thread. */
void changes_progress(struct fs *fs, struct ref session, uint64_t turn_number);

#endif
