/*
 * Blobs: the bytes of one version, or of a file that is not one yet.
 *
 * A blob is extents over bulks. What is written goes to a bulk of its own, at
 * the same offsets; what was there before is shared, never copied. Bulks that a
 * blob uses are pinned, so that they outlive the versions they came from.
 *
 * A blob is used by one thread at a time, but for blob_plan_read().
 */
#ifndef STORE_ARTIFACT_BLOB_H
#define STORE_ARTIFACT_BLOB_H

#include "store/artifact/bulk.h"
#include "store/artifact/extents.h"

#define BLOB_FILES       8     /* bulks that are kept open for reading */
#define BLOB_EXTENTS_MAX 16384 /* of a version; more are joined by copying what is between */
#define BLOB_BULKS_MAX   64

struct blob_file;

struct blob {
	struct store *st;
	struct extents map;
	uint64_t size;
	struct bulk_writer own; /* what writes go to; fd -1: none yet */
	uint64_t own_number;
	uint64_t sealed;    /* of own: what lies before may be shared and does not change */
	bool own_is_public; /* a version refers to it */
	struct buf pinned;  /* numbers */
	struct blob_file *files[BLOB_FILES]; /* NULL: free */
	unsigned next_file;
};

/* An empty one. Release it with blob_close(). */
void blob_init(struct blob *b, struct store *st);

/* Close the blob; bytes that are in no version are removed. */
void blob_close(struct blob *b);

/* Start from the bytes of a map. The bulks have to be there: pinned, or of a version. */
MUST_CHECK int blob_load(struct blob *b, const struct extents *map, uint64_t size, struct err *err);

/* Bytes to be read, with the files they are in: made under a lock, read without it. */
struct blob_plan {
	struct buf parts; /* of struct blob_part */
};

MUST_CHECK int blob_plan(struct blob *b, uint64_t offset, size_t size, struct blob_plan *plan,
			 struct err *err);
/* Append what was planned, and release the plan. */
MUST_CHECK int blob_plan_read(struct blob_plan *plan, struct buf *out, struct err *err);

/* Plan and read in one. Appends at most size bytes; fewer only at the end. */
MUST_CHECK int blob_read(struct blob *b, uint64_t offset, size_t size, struct buf *out,
			 struct err *err);

/* 0; -ENOSPC, -EIO, ... */
MUST_CHECK int blob_write(struct blob *b, uint64_t offset, struct span data, struct err *err);
MUST_CHECK int blob_truncate(struct blob *b, uint64_t size, struct err *err);

/* Zeros in [from, to). */
MUST_CHECK int blob_clear(struct blob *b, uint64_t from, uint64_t to, struct err *err);

/*
 * Bytes of another blob (or of the same, where the ranges are apart) from `from` on, at `to`:
 * shared. The range lies in the other.
 */
MUST_CHECK int blob_share(struct blob *b, uint64_t to, struct blob *other, uint64_t from,
			  uint64_t len, struct err *err);

/* SEEK_DATA or SEEK_HOLE from offset. -ENXIO: there is none. */
MUST_CHECK int blob_seek(const struct blob *b, uint64_t offset, bool data, uint64_t *out);

/* Ready to be a version: few extents, all bytes in their files, on disk if so wanted. */
MUST_CHECK int blob_settle(struct blob *b, bool to_disk, struct err *err);

/* A version has the blob now: its bytes do not change any more. */
void blob_seal(struct blob *b);

#endif
