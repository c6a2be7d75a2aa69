/*
 * state/ and state.json of an app, a user and a session: what their rows name.
 */
#ifndef FS_NAMES_STATE_H
#define FS_NAMES_STATE_H

#include "fs/tree/ids.h"
#include "fs/tree/node.h"

/* What a member may be: a value, or a link to one of the user or the app. */
extern const struct node_type state_members[];

int state_dir_stat(const struct place *at, struct node_stat *st, struct err *err);
int state_dir_list(const struct place *dir, uint64_t after, struct lister *l, struct err *err);
int state_dir_find(const struct place *dir, const char *name, struct place *child, struct buf *text,
		   struct err *err);
int state_dir_create(const struct place *dir, const char *name, const struct node_new *by,
		     struct place *child, struct buf *text, struct err *err);
int state_dir_rename(const struct node_rename *rn, struct err *err);
int state_dir_remove(const struct place *dir, const char *name, struct err *err);

int state_map_stat(const struct place *at, struct node_stat *st, struct err *err);
int state_map_show(const struct place *at, struct buf *out, struct err *err);
extern const struct text_rules state_map_rules;

/* For context_state.c, which shows state with changes on top. */

#define STATE_MAP_MAX (16u << 20) /* bytes of what is written to state.json */

/* "topic.json" to "topic". -ENOENT: not a name of a key. */
MUST_CHECK int state_key_of_name(const char *name, struct buf *key, struct err *err);
/* The name of the key prefix + key. -EINVAL, -ENAMETOOLONG: no file name can hold it. */
MUST_CHECK int state_name_of_key(const char *prefix, struct span key, struct buf *name);
/* Whether it is that of a file that is no value. */
bool state_is_scratch_name(const char *name);
/* Whether what is renamed onto the name of a key is a value. -EBADMSG; -EFBIG. */
MUST_CHECK int state_check_moved(struct span text, struct err *err);

#endif
