/*
 * ctl: verbs for a session, one a line.
 */
#ifndef FS_NAMES_CTL_H
#define FS_NAMES_CTL_H

#include "fs/tree/node.h"

extern const struct file_ops ctl_ops;

/* What a verb began has failed, and nobody waits for it: put that into .errors. */
void ctl_tell_failure(struct fs *fs, struct ref session, const struct err *why);

#endif
