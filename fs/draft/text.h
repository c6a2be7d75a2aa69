/*
 * Text files that are taken as a whole: state values, state.json, <n>.json,
 * attachments.
 *
 * A write works on a copy of the text. What can never become valid is refused by
 * write(2); when a descriptor is closed the text has to be complete, and is set.
 */
#ifndef FS_DRAFT_TEXT_H
#define FS_DRAFT_TEXT_H

#include "fs/tree/handle.h"

struct text_rules {
	bool starts_empty; /* the old text is no part of the new one */
	/*
	 * Any bytes will do, even none: the last close sets a file that was only made or
	 * emptied. An open that writes sees its own bytes and their size.
	 */
	bool is_bytes;
	size_t max;       /* bytes */
	const char *what; /* "a state value": for errors */
	/* What an open checks, also one that reads; unset: nothing. */
	int (*open)(struct handle *h, struct err *err);
	/* 0; -ENODATA: not yet valid, more may follow; other errors: never. */
	int (*check)(struct handle *h, struct span text, struct err *err);
	int (*set)(struct handle *h, struct span text, struct err *err);
};

/* A row with .file = &text_ops has its rules in .text. */
extern const struct file_ops text_ops;

/* For rows whose rules say is_bytes: an open that writes reads its own bytes. */
MUST_CHECK int text_read(struct handle *h, uint64_t offset, size_t size, struct buf *out,
			 struct err *err);

#endif
