/*
 * Streams: files that grow while they are read: the output and the events of a
 * turn, and the wait for its end.
 */
#ifndef FS_NAMES_STREAM_H
#define FS_NAMES_STREAM_H

#include "fs/tree/node.h"

extern const struct file_ops
	session_output_ops; /* the output of the turn that is the latest at the open */
extern const struct file_ops turn_output_ops;
extern const struct file_ops turn_stream_ops;
extern const struct file_ops session_wait_ops;

/* Append "idle", "queued N", "running N" or "failed N", and a newline. Returns 0 or -errno. */
int stream_status(const struct place *at, struct buf *out, struct err *err);

/* The present size of a turn's output, or of its stream of events. */
struct turn_info;
uint64_t stream_output_size(const struct place *at, const struct turn_info *info);
uint64_t stream_events_size(const struct place *at, const struct turn_info *info);

#endif
