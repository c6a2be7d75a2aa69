/*
 * input: one open file description is one message.
 */
#ifndef FS_INPUT_H
#define FS_INPUT_H

#include "fs/node.h"

extern const struct file_ops input_ops;

#endif
