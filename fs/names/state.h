/*
 * state/ and state.json of an app, a user or a session: the functions for their
 * rows. For the contracts see struct node_type.
 */
#ifndef FS_NAMES_STATE_H
#define FS_NAMES_STATE_H

#include "fs/tree/ids.h"
#include "fs/tree/node.h"

/* The types of members: a value, or a link to a value of the user or the app. */
extern const struct node_type state_members[];

int state_dir_stat(const struct place *at, struct node_stat *st, struct err *err);

int state_map_stat(const struct place *at, struct node_stat *st, struct err *err);
int state_map_show(const struct place *at, struct buf *out, struct err *err);
extern const struct text_rules state_map_rules;

/* The rest is for context_state.c too, which shows the state with a program's changes. */

#define STATE_MAP_MAX (16u << 20) /* bytes of a text for state.json */

/* Convert "topic.json" to "topic". Returns 0; -ENOENT: not the name of a key; -EINVAL. */
MUST_CHECK int state_key_of_name(const char *name, struct buf *key, struct err *err);
/*
 * Append the file name of the key prefix + key, followed by a NUL. Returns 0; -EINVAL or
 * -ENAMETOOLONG: no file name can spell the key; -ENOMEM.
 */
MUST_CHECK int state_name_of_key(const char *prefix, struct span key, struct buf *name);
/* Whether a name belongs to a scratch file, not to a key. */
bool state_is_scratch_name(const char *name);
/* Check a text that is renamed onto the name of a key. 0; -EBADMSG: not JSON; -EFBIG. */
MUST_CHECK int state_check_moved(struct span text, struct err *err);

extern const struct dir_ops state_dir_ops;

#endif
