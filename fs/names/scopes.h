/*
 * What the directories of apps, users and sessions have in common.
 */
#ifndef FS_NAMES_SCOPES_H
#define FS_NAMES_SCOPES_H

#include "fs/tree/ids.h"
#include "fs/tree/node.h"

/* The mount, apps/<id>, users/<id>, sessions/<id>. */
extern const struct node_type root_dir;
extern const struct node_type app_dir;
extern const struct node_type user_dir;
extern const struct node_type session_dir;

/* apps/, users/, sessions/: members are scopes. */
int scopes_stat(const struct place *at, struct node_stat *st, struct err *err);
int scopes_list(const struct place *dir, uint64_t after, struct lister *l, struct err *err);
int scopes_find(const struct place *dir, const char *name, struct place *child, struct buf *text,
		struct err *err);
int scopes_make(const struct place *dir, const char *name, const struct node_new *by,
		struct err *err);
int scopes_remove(const struct place *dir, const char *name, struct err *err);

/* The id of a file name, with a NUL behind it. -EINVAL, -ENAMETOOLONG. */
MUST_CHECK int scopes_id(const char *name, struct buf *id, struct err *err);

/* The directory of a scope itself. */
int scope_dir_stat(const struct place *at, struct node_stat *st, struct err *err);

/* .errors */
int scope_errors_stat(const struct place *at, struct node_stat *st, struct err *err);
int scope_errors_show(const struct place *at, struct buf *out, struct err *err);

#endif
