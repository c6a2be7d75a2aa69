/*
 * The tree: walking, listing and describing, over the tables of node.h.
 */
#ifndef FS_TREE_TREE_H
#define FS_TREE_TREE_H

#include "fs/tree/fs.h"

/*
 * Find a name in a directory. text takes what child->name points at.
 * 0; -ENOENT; -EINVAL, -ENAMETOOLONG: no such name can be.
 */
MUST_CHECK int tree_find(const struct place *dir, const char *name, struct place *child,
			 struct buf *text, struct err *err);

/* Describe a place. -ESTALE: what it stood for is gone. st: prefilled, or NULL. */
MUST_CHECK int tree_stat(const struct place *at, const struct node_stat *known, struct stat *out,
			 struct err *err);

/* List a directory from behind a cookie. */
MUST_CHECK int tree_list(const struct place *dir, uint64_t cookie, struct lister *l,
			 struct err *err);

/*
 * Whether a text changed a moment ago, and so may well change while it is read:
 * the kernel's pages could then be of one text and its size of another.
 */
bool tree_is_moving(const struct place *at);

/* Whether it is a directory that rmdir(2) took away, and somebody is still in there. */
bool tree_is_unlinked(const struct place *at);

/* Whether a name may come or go without news, so that nobody may remember it. */
bool tree_is_fleeting(const struct place *at);

/* A range of a volatile file's text: what getattr measured, for a while. */
MUST_CHECK int tree_read_volatile(struct inode *inode, uint64_t offset, size_t size,
				  struct buf *out, struct err *err);

/*
 * Hide a name of a table for a while, as rm -r wants it gone; the object stays.
 */
void tree_hide(const struct place *dir, const char *name);
bool tree_is_hidden(const struct place *dir, const char *name);

/* Whether a directory hides a name now, so that its attributes will change by themselves. */
bool tree_hides_names(uint64_t ino);

/* Cookies of members start here; below are rows. */
#define TREE_MEMBER_COOKIE 4096

/* The name of the row of a fixed directory that has this id. One must have it. */
const char *tree_row_name(const struct node_type *dir, unsigned id);

#endif
