/*
 * input and input.json: one open file description is one message.
 */
#ifndef FS_NAMES_INPUT_H
#define FS_NAMES_INPUT_H

#include "fs/tree/node.h"

extern const struct file_ops input_ops;
extern const struct file_ops input_json_ops;

/* For files that are only written: to read one is to find nothing, to cut it does nothing. */
int input_follow(struct handle *h, uint64_t offset, size_t size, struct buf *out, struct err *err);
int input_truncate(struct handle *h, uint64_t size, struct err *err);

#endif
