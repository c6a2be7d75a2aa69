/*
 * ctl: verbs for a session, one a line.
 */
#ifndef FS_CTL_H
#define FS_CTL_H

#include "fs/node.h"

extern const struct file_ops ctl_ops;

#endif
