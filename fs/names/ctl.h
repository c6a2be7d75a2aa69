/*
 * ctl: verbs for a session, one a line.
 */
#ifndef FS_NAMES_CTL_H
#define FS_NAMES_CTL_H

#include "fs/tree/node.h"

extern const struct file_ops ctl_ops;

#endif
