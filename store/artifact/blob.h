/*
 * Blobs: the bytes of a version, or of a file that is not saved yet.
 *
 * A blob is a list of extents over bulks. Written bytes are added to a bulk of the blob's own,
 * which is copied when most of it was written over. Older bytes are shared with the versions that
 * have them, and never copied. A blob pins the bulks that it uses, so they outlive the versions
 * that they came from.
 *
 * One thread uses a blob at a time. Only blob_plan_read() may run beside others.
 */
#ifndef STORE_ARTIFACT_BLOB_H
#define STORE_ARTIFACT_BLOB_H

#include "store/artifact/bulk.h"
#include "store/artifact/extents.h"
#include "store/artifact/reader.h"

#define BLOB_FILES       8      /* bulks that stay open for reading */
#define BLOB_EXTENTS_MAX 131072 /* more are joined by copying the bytes between them */
#define BLOB_BULKS_MAX   64

struct blob {
	struct store *st;
	struct extents map;
	uint64_t size;
	struct bulk_writer own;                /* takes the writes; fd -1: there is none yet */
	bool own_is_public;                    /* a version refers to it */
	struct buf pinned;                     /* uint64_t: numbers of bulks */
	struct bulk_reader *files[BLOB_FILES]; /* NULL: free */
	unsigned next_file;
};

/* Make an empty blob. blob_close() releases it. */
void blob_init(struct blob *b, struct store *st);

/* Make a blob empty, and remove its bytes that are in no version. */
void blob_close(struct blob *b);

/* Fill an empty blob from a map. A pin or a version must hold the bulks of the map. */
MUST_CHECK int blob_load(struct blob *b, const struct extents *map, uint64_t size, struct err *err);

/* Bytes to read, and the files that have them. Made under a lock, and read without it. */
struct blob_plan {
	struct buf parts; /* struct blob_part */
};

MUST_CHECK int blob_plan(struct blob *b, uint64_t offset, size_t size, struct blob_plan *plan,
			 struct err *err);
/* Read the planned bytes, append them, and release the plan, even after an error. */
MUST_CHECK int blob_plan_read(struct blob_plan *plan, struct buf *out, struct err *err);

/* Append `size` bytes from `offset` on; fewer only at the end of the blob. */
MUST_CHECK int blob_read(struct blob *b, uint64_t offset, size_t size, struct buf *out,
			 struct err *err);

/* Write, or set the size; new bytes between are zeros. -ENOSPC; -EIO; -ENOMEM. */
MUST_CHECK int blob_write(struct blob *b, uint64_t offset, struct span data, struct err *err);
MUST_CHECK int blob_truncate(struct blob *b, uint64_t size, struct err *err);

/* Make [from, to) zeros. The size stays. */
MUST_CHECK int blob_clear(struct blob *b, uint64_t from, uint64_t to, struct err *err);

/*
 * Put the bytes [from, from + len) of another blob at `to`, by sharing them. The range lies in
 * the other blob. Both may be the same blob if the ranges do not overlap.
 */
MUST_CHECK int blob_share(struct blob *b, uint64_t to, struct blob *other, uint64_t from,
			  uint64_t len, struct err *err);

/* Find the next data, or the next hole, as lseek() does. -ENXIO: there is none. */
MUST_CHECK int blob_seek(const struct blob *b, uint64_t offset, bool data, uint64_t *out);

/* Prepare a blob to become a version: few extents, and all bytes in files; to_disk: synced. */
MUST_CHECK int blob_settle(struct blob *b, bool to_disk, struct err *err);

/* Inside the transaction that publishes a settled blob: store the checksums of its own bytes. */
MUST_CHECK int blob_save_sums(const struct blob *b, struct store_tx *tx);

/* Note that a version has the blob now. */
void blob_seal(struct blob *b);

#endif
