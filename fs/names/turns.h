/*
 * turns/: the directory of a session's turns. For the contracts of the functions
 * see struct node_type.
 */
#ifndef FS_NAMES_TURNS_H
#define FS_NAMES_TURNS_H

#include "fs/tree/node.h"
#include "store/turn/turn.h"

extern const struct node_type turn_dir; /* turns/<n> */

int turns_dir_stat(const struct place *at, struct node_stat *st, struct err *err);
extern const struct node_type turns_entries[];

/* The word for a state: "queued", "running", "done" or "failed". */
const char *turns_word(enum turn_state state);

extern const struct dir_ops turns_dir_ops;

#endif
