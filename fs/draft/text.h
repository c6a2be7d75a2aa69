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
	/* Any bytes will do, also none: a file that was only made or emptied is set by the last
	 * close. Who writes one sees the own bytes and their size. */
	bool is_bytes;
	size_t max;       /* bytes */
	const char *what; /* "a state value": for errors */
	/* 0; -ENODATA: not yet valid, more may follow; other errors: never. */
	int (*check)(struct handle *h, struct span text, struct err *err);
	int (*set)(struct handle *h, struct span text, struct err *err);
};

/* For rows of file_ops; h->state is the draft. */
MUST_CHECK int text_open(struct handle *h, const struct text_rules *rules, struct err *err);
MUST_CHECK ssize_t text_write(struct handle *h, uint64_t offset, struct span data, struct err *err);
MUST_CHECK int text_truncate(struct handle *h, uint64_t size, struct err *err);
MUST_CHECK int text_flush(struct handle *h, struct err *err);
void text_release(struct handle *h, struct err *err);

/* For those with is_bytes: what the open reads, and its size. */
MUST_CHECK int text_read(struct handle *h, uint64_t offset, size_t size, struct buf *out,
			 struct err *err);
bool text_draft_size(struct handle *h, uint64_t *size);

/* The file was removed: nothing comes of what is open. */
void text_removed(struct fs *fs, uint64_t ino);

/* The number of a file that an open made and of which nothing is stored yet; 0: there is no such.
 * dir: the directory's number. */
uint64_t text_find_made(struct fs *fs, uint64_t dir, const char *name);

/* Remove it, if it is such a one. */
bool text_remove_made(struct fs *fs, uint64_t dir, const char *name);

#endif
