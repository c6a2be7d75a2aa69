/*
 * input and input.json: each open file description that writes is one message,
 * which becomes a turn after its last close.
 */
#ifndef FS_NAMES_INPUT_H
#define FS_NAMES_INPUT_H

#include "fs/tree/node.h"

extern const struct file_ops input_ops;
extern const struct file_ops input_json_ops;

/*
 * For files that are only written: a read finds an empty file, so that programs may copy or
 * search all files; a truncation has no effect.
 */
int input_follow(struct handle *h, uint64_t offset, size_t size, struct buf *out, struct err *err);
int input_truncate(struct handle *h, uint64_t size, struct err *err);

#endif
