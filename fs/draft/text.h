/*
 * Text files that are set as a whole: state values, state.json, <n>.json,
 * attachments.
 *
 * A write changes a copy of the text. write(2) refuses a text that can never become
 * valid. A close sets the text, which must be complete by then.
 */
#ifndef FS_DRAFT_TEXT_H
#define FS_DRAFT_TEXT_H

#include "fs/tree/handle.h"

struct text_rules {
	bool starts_empty; /* a write does not start from the old text */
	/*
	 * All bytes are valid, even an empty file: the last close sets a file that was only
	 * made or emptied. An open that writes sees its own bytes and their size.
	 */
	bool is_bytes;
	size_t max;       /* bytes */
	const char *what; /* "a state value": for errors */
	/* Check an open, for writing or reading; may be NULL. */
	int (*open)(struct handle *h, struct err *err);
	/* Check a text after a write: 0; -ENODATA: not valid yet; another -errno: never valid. */
	int (*check)(struct handle *h, struct span text, struct err *err);
	/* Store a complete text. */
	int (*set)(struct handle *h, struct span text, struct err *err);
};

/* The operations of such a file. A row with .file = &text_ops has its rules in .text. */
extern const struct file_ops text_ops;

/* The read() of rows whose rules have is_bytes: an open that writes reads its own bytes. */
MUST_CHECK int text_read(struct handle *h, uint64_t offset, size_t size, struct buf *out,
			 struct err *err);

#endif
