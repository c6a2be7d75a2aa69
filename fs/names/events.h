/*
 * events.jsonl: the log of a session. For the contracts of the functions see
 * struct node_type.
 */
#ifndef FS_NAMES_EVENTS_H
#define FS_NAMES_EVENTS_H

#include "fs/tree/node.h"

int events_stat(const struct place *at, struct node_stat *st, struct err *err);
int events_read(struct handle *h, uint64_t offset, size_t size, struct buf *out, struct err *err);
bool events_grow(const struct place *at);
extern const struct file_ops events_ops;

#endif
