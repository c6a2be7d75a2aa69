/*
 * Files that are read while they come into being: the output and the events
 * of a turn, and the wait for its end.
 */
#ifndef FS_NAMES_STREAM_H
#define FS_NAMES_STREAM_H

#include "fs/tree/node.h"

extern const struct file_ops session_output_ops; /* of the latest turn at open */
extern const struct file_ops turn_output_ops;
extern const struct file_ops turn_stream_ops;
extern const struct file_ops session_wait_ops;

/* "idle", "queued N", "running N", "failed N", and a newline. */
int stream_status(const struct place *at, struct buf *out, struct err *err);

/* Bytes so far of a turn's output, respectively of its stream of events. */
struct turn_info;
uint64_t stream_output_size(const struct place *at, const struct turn_info *info);
uint64_t stream_events_size(const struct place *at, const struct turn_info *info);

#endif
