/*
 * Drafts: the bytes of artifacts, versions and scratch files while they are written.
 *
 * An open that writes has a draft of its own, which becomes a version when the file
 * is closed; until then all others see the stored bytes. All opens of a scratch file
 * (scratch.h) share one draft. The draft of a new artifact belongs to the open that
 * made it. The functions may be called on any thread.
 */
#ifndef FS_DRAFT_DRAFT_H
#define FS_DRAFT_DRAFT_H

#include "fs/tree/node.h"

struct draft;

/*
 * A new draft with one reference. is_new: the draft starts as an empty file; else with the
 * bytes that are stored. NULL: out of memory.
 */
struct draft *draft_new(struct store *st, bool is_new);
/* Add or drop a reference; the last drop frees the draft. NULL is fine for both. */
struct draft *draft_ref(struct draft *d);
void draft_unref(struct draft *d);

/* The present size of a draft. */
uint64_t draft_length(struct draft *d);

/* Append the bytes of a small draft. Returns 0; -EFBIG: more than max bytes. */
MUST_CHECK int draft_text(struct draft *d, size_t max, struct buf *out, struct err *err);

/* Put a text into an empty draft. */
MUST_CHECK int draft_put_text(struct draft *d, struct span text, struct err *err);

/* Put the bytes of version n of a history into a draft. */
MUST_CHECK int draft_load(struct draft *d, uint64_t history, uint64_t n, struct err *err);

/*
 * Save a draft as a version of the artifact at->item, which gets the name at->name. via: the
 * session that gets the event, if not the session of `at`. Returns 0; -EAGAIN: a close
 * saved the draft first; another -errno.
 */
MUST_CHECK int draft_publish(struct draft *d, const struct place *at, struct ref via,
			     struct err *err);

/* The size and link count of a removed file that is still open. False: no open is left. */
bool draft_stat_unlinked(const struct place *at, struct node_stat *st);

/* An artifact was renamed: the next save of each of its drafts is a version of the new name. */
void draft_renamed(struct fs *fs, uint64_t ino);

/* A file is about to be removed: load its latest bytes into the opens that read it. */
void draft_keep_open(struct fs *fs, uint64_t ino);

/* The attributes of an artifact were set: set them in its unsaved drafts too. */
void draft_keep_attr(const struct place *at, const struct artifact_attr *attr);

/*
 * Save a file that was made or emptied and then closed, though other descriptors may still be
 * open. Called before a change by name (truncate, rename, unlink, chmod). Returns 0; -errno.
 */
MUST_CHECK int draft_settle(const struct inode *inode, struct err *err);

/* The size of the largest draft of opens that can read and write (and map) the file; 0: none. */
uint64_t draft_largest(const struct place *at);

/* Refuse further writes with -ESTALE, so that the caller can save the draft itself. */
void draft_end(struct draft *d);
/* Whether the draft was written to or emptied since the last save. */
bool draft_is_written(struct draft *d);
/*
 * After draft_end(): complete the bytes and guess their MIME type. *blob is borrowed until the
 * last reference goes; mime has `size` bytes.
 */
MUST_CHECK int draft_bytes(struct draft *d, const char *name, struct blob **blob, char *mime,
			   size_t size, struct err *err);
/* After draft_bytes(): a version owns the bytes now. */
void draft_saved(struct draft *d);

/* The open() of draft_ops, for rows with an open() of their own. See struct file_ops. */
MUST_CHECK int draft_open(struct handle *h, struct err *err);

/* The read() of a row whose file is draft_ops: the draft's bytes, else the stored ones. */
MUST_CHECK int draft_read(struct handle *h, uint64_t offset, size_t size, struct buf *out,
			  struct err *err);
extern const struct file_ops draft_ops;

#endif
