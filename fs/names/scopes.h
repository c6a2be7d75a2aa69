/*
 * Scopes: the functions that the directories of apps, users and sessions share.
 * For the contracts of functions that a row names see struct node_type.
 */
#ifndef FS_NAMES_SCOPES_H
#define FS_NAMES_SCOPES_H

#include "fs/tree/ids.h"
#include "fs/tree/node.h"

/* The rows of the root, apps/<id>, users/<id> and sessions/<id>. */
extern const struct node_type root_dir;
extern const struct node_type app_dir;
extern const struct node_type user_dir;
extern const struct node_type session_dir;

/* For the rows apps/, users/ and sessions/, whose members are scopes. */
int scopes_stat(const struct place *at, struct node_stat *st, struct err *err);

/*
 * Decode a file name to the id of a scope, followed by a NUL. Returns 0; -EINVAL or
 * -ENAMETOOLONG: no id has such a name; -ENOMEM.
 */
MUST_CHECK int scopes_id(const char *name, struct buf *id, struct err *err);

/* For the row of a scope's own directory. */
int scope_dir_stat(const struct place *at, struct node_stat *st, struct err *err);

/* For the rows of .errors. */
int scope_errors_stat(const struct place *at, struct node_stat *st, struct err *err);
int scope_errors_show(const struct place *at, struct buf *out, struct err *err);

extern const struct dir_ops scopes_ops;

#endif
