/*
 * .adkfs: the directory of the daemon, a row of the root. app.c shows JSON in the same way.
 */
#ifndef FS_NAMES_ADKFS_H
#define FS_NAMES_ADKFS_H

#include "fs/tree/node.h"

#include <jansson.h>

/* Append an indented JSON text and a newline. value: taken; NULL stands for -ENOMEM. */
MUST_CHECK int adkfs_show_json(json_t *value, struct buf *out, struct err *err);

extern const struct node_type adkfs_entries[];

#endif
