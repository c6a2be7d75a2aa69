/*
 * The tree: finding, listing and describing places by the tables of node.h.
 */
#ifndef FS_TREE_TREE_H
#define FS_TREE_TREE_H

#include "fs/tree/fs.h"

/*
 * Find a name in a directory. `text` gets the bytes that child->name points at.
 * Returns 0; -ENOENT; -EINVAL, -ENAMETOOLONG: the directory can have no such name.
 */
MUST_CHECK int tree_find(const struct place *dir, const char *name, struct place *child,
			 struct buf *text, struct err *err);

/*
 * Fill in the attributes of a place. known: the node_stat, if the caller has it already; NULL:
 * ask the row. Returns 0; -ESTALE: the object is gone; another -errno.
 */
MUST_CHECK int tree_stat(const struct place *at, const struct node_stat *known, struct stat *out,
			 struct err *err);

/* List the names of a directory after a cookie; 0: all names. */
MUST_CHECK int tree_list(const struct place *dir, uint64_t cookie, struct lister *l,
			 struct err *err);

/*
 * Whether a text changed a moment ago and is likely to change while it is read. The kernel
 * could then cache pages of one text and the size of another.
 */
bool tree_is_moving(const struct place *at);

/* Whether rmdir(2) removed the directory while the kernel still holds it. */
bool tree_is_unlinked(const struct place *at);

/* Whether a name may come or go without news, so that the kernel must not cache it. */
bool tree_is_fleeting(const struct place *at);

/* Read a range of a NODE_VOLATILE file's text: the text whose size getattr measured last. */
MUST_CHECK int tree_read_volatile(struct inode *inode, uint64_t offset, size_t size,
				  struct buf *out, struct err *err);

/* Hide a name of a table for some seconds, so that rm -r can go on; the object stays. */
void tree_hide(const struct place *dir, const char *name);
bool tree_is_hidden(const struct place *dir, const char *name);

/* Whether a directory hides a name now. Its attributes change when the name is back. */
bool tree_hides_names(uint64_t ino);

/* The name of the row with this id. The directory must have such a row. */
const char *tree_row_name(const struct node_type *dir, unsigned id);

#endif
