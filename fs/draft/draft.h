/*
 * Drafts: files that are written: artifacts, versions, scratch files.
 *
 * An open that writes has a draft of its own, which becomes a version when it
 * is closed; until then all others see what was there before. Files that are
 * not in the store yet (scratch.h) have one draft for all.
 */
#ifndef FS_DRAFT_DRAFT_H
#define FS_DRAFT_DRAFT_H

#include "fs/tree/node.h"

struct draft;

#define ARTIFACT_MAX (1ull << 40)

/* One reference; NULL: no memory. is_new: an empty file, there is nothing to start from. */
struct draft *draft_new(struct store *st, bool is_new);
struct draft *draft_ref(struct draft *d);
void draft_unref(struct draft *d); /* NULL is fine */

/* Its size now. */
uint64_t draft_length(struct draft *d);

/* The text of a small file. -EFBIG over max. */
MUST_CHECK int draft_text(struct draft *d, size_t max, struct buf *out, struct err *err);

/* Put a text into a new one. */
MUST_CHECK int draft_put_text(struct draft *d, struct span text, struct err *err);

/* Start from a version. */
MUST_CHECK int draft_load(struct draft *d, uint64_t history, uint64_t n, struct err *err);

/* Save it as a version of an artifact's place, which becomes at->item. via: the session that gets
 * the event, if not at's. -EAGAIN: a close has saved it meanwhile. */
MUST_CHECK int draft_publish(struct draft *d, const struct place *at, struct ref via,
			     struct err *err);

/* A removed file that is still open: how it is shown to who has it. False: nobody has. */
bool draft_stat_unlinked(const struct place *at, struct node_stat *st);

/* An artifact has another name: what is written to it from now on is a version of that. */
void draft_renamed(struct fs *fs, uint64_t ino);

/* A file is about to be removed: who has it open keeps its latest bytes. */
void draft_keep_open(struct fs *fs, uint64_t ino);

/* The attributes of an artifact were set: drafts of it that are not saved yet keep them. */
void draft_keep_attr(const struct place *at, const struct artifact_attr *attr);

/*
 * Save what was emptied or made and whose descriptor was closed, though others may be open:
 * somebody is about to change it by its name.
 */
MUST_CHECK int draft_settle(const struct inode *inode, struct err *err);

/* The largest draft of opens that read as well (and may map it). */
uint64_t draft_largest(const struct place *at);

/* For who saves it by other means: from now on writing is -ESTALE. */
void draft_end(struct draft *d);
/* Whether something was written since it was made, or it was emptied. */
bool draft_is_written(struct draft *d);
/* After draft_end(): its bytes, settled, until the last reference goes; and their type. */
MUST_CHECK int draft_bytes(struct draft *d, const char *name, struct blob **blob, char *mime,
			   size_t size, struct err *err);
/* A version has them now. */
void draft_saved(struct draft *d);

/* What draft_ops has, for rows that have a part of it done in another way. */
MUST_CHECK int draft_open(struct handle *h, struct err *err);
MUST_CHECK ssize_t draft_write(struct handle *h, uint64_t offset, struct span data,
			       struct err *err);
MUST_CHECK int draft_truncate(struct handle *h, uint64_t size, struct err *err);
MUST_CHECK int draft_allocate(struct handle *h, int mode, uint64_t offset, uint64_t len,
			      struct err *err);
MUST_CHECK int draft_seek(struct handle *h, uint64_t offset, bool data, uint64_t *out,
			  struct err *err);
MUST_CHECK ssize_t draft_copy(struct handle *from, uint64_t offset, struct handle *to,
			      uint64_t to_offset, uint64_t len, struct err *err);
bool draft_size(struct handle *h, uint64_t *size);
MUST_CHECK int draft_flush(struct handle *h, struct err *err);
MUST_CHECK int draft_sync(struct handle *h, struct err *err);
void draft_release(struct handle *h, struct err *err);

MUST_CHECK int draft_read(struct handle *h, uint64_t offset, size_t size, struct buf *out,
			  struct err *err);
extern const struct file_ops draft_ops;

#endif
