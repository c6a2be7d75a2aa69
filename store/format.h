/*
 * The format of a store.
 *
 * The row KEY_META_FORMAT has FORMAT_NAME, then a word for each way in which rows differ from the
 * first store of that name. A program that does not know a word refuses the store. A store that
 * lacks a word, or has FORMAT_OLDER, is converted when it is opened, word by word. A daemon may
 * end in the middle: the next one continues.
 */
#ifndef STORE_FORMAT_H
#define STORE_FORMAT_H

#include "store/tx/store.h"

#define FORMAT_NAME  "adkfs 2"
#define FORMAT_OLDER "adkfs 1"

/*
 * Check the format of a store that nobody uses yet, and convert an older one. -EINVAL: this
 * program cannot read the store; -errno.
 */
MUST_CHECK int format_settle(struct store *st, struct err *err);

#endif
