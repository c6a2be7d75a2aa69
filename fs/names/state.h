/*
 * state/ and state.json: rows of three directories, so their pieces are here.
 */
#ifndef FS_NAMES_STATE_H
#define FS_NAMES_STATE_H

#include "fs/tree/ids.h"
#include "fs/tree/node.h"

int state_dir_stat(const struct place *at, struct node_stat *st, struct err *err);
int state_dir_list(const struct place *dir, uint64_t after, struct lister *l, struct err *err);
int state_dir_find(const struct place *dir, const char *name, struct place *child, struct buf *text,
		   struct err *err);
int state_dir_create(const struct place *dir, const char *name, const struct node_new *by,
		     struct place *child, struct buf *text, struct err *err);
int state_dir_rename(const struct place *dir, const char *name, const struct place *new_dir,
		     const char *new_name, bool must_be_new, const struct node_new *by,
		     struct err *err);
int state_dir_remove(const struct place *dir, const char *name, struct err *err);

int state_map_stat(const struct place *at, struct node_stat *st, struct err *err);
int state_map_show(const struct place *at, struct buf *out, struct err *err);
extern const struct file_ops state_map_ops;

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

/* The two rows, as every scope has them. */
#define STATE_ROWS(dir_mode, file_mode, more_flags, what)                                          \
	{ .name = "state",                                                                         \
	  .id = ID_STATE_DIR,                                                                      \
	  .mode = S_IFDIR | (dir_mode),                                                            \
	  .flags = (more_flags),                                                                   \
	  .help = what ": a JSON value a file",                                                    \
	  .stat = state_dir_stat,                                                                  \
	  .list = state_dir_list,                                                                  \
	  .find = state_dir_find,                                                                  \
	  .create = state_dir_create,                                                              \
	  .remove = state_dir_remove,                                                              \
	  .rename = state_dir_rename },                                                            \
	{                                                                                          \
		.name = "state.json", .id = ID_STATE_JSON, .mode = S_IFREG | (file_mode),          \
		.flags = (more_flags), .help = "the same as one object", .stat = state_map_stat,   \
		.show = state_map_show, .file = &state_map_ops                                     \
	}

#endif
