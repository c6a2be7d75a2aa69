/*
 * Bulks: bytes that are too large for rows, each bulk in a file that is written once.
 *
 * A bulk has a number, and its file is in FOLDER/bulk. Versions refer to bulks. The KEY_REF row of
 * a bulk has the number of these references. A bulk without references has a KEY_PENDING row
 * instead, and the next start of the daemon that made the row removes the bulk.
 */
#ifndef STORE_ARTIFACT_BULK_H
#define STORE_ARTIFACT_BULK_H

#include "base/mutex.h"
#include "store/artifact/sums.h"

/*
 * A bulk that is written: bytes are added at its end. They are collected, and many of them bypass
 * the page cache, because nobody may read them for long. Before bulk_writer_open(), fd and direct
 * are -1 and the rest is zero.
 */
struct bulk_writer {
	struct store *st;
	uint64_t number;
	int fd;
	int direct; /* the same file with O_DIRECT; -1: not possible here */
	char *buffer;
	uint64_t start; /* offset of the buffer in the file */
	size_t len;
	uint64_t size; /* size of the file, with the buffer */
	struct sums sums;
};

#define BULK_ALIGN  4096
#define BULK_BUFFER (1u << 20)
#define BULK_SMALL  (256u << 10) /* smaller files stay in the page cache */

/* Make an empty pending bulk and open it for writing. */
MUST_CHECK int bulk_writer_open(struct bulk_writer *w, struct store *st, struct err *err);

/* Add bytes at the end. -errno. */
MUST_CHECK int bulk_append(struct bulk_writer *w, struct span data, struct err *err);

/* Write the buffer to the file. -errno. */
MUST_CHECK int bulk_drain(struct bulk_writer *w, struct err *err);

/* Close the file and free the buffer, which is not written. */
void bulk_writer_close(struct bulk_writer *w);

/* The path of a bulk's file. */
#define BULK_PATH_SIZE 4096
void bulk_path(const struct store *st, uint64_t number, char path[BULK_PATH_SIZE]);

/* Open a bulk for reading. Returns a descriptor that the caller closes, or -errno. */
MUST_CHECK int bulk_open(struct store *st, uint64_t number, struct err *err);

/*
 * Inside a transaction: add or remove the reference of a version. A bulk without references is
 * pending again, and its number is appended to `dead` for bulk_remove() after the commit.
 */
MUST_CHECK int bulk_add_ref(struct store_tx *tx, uint64_t number);
MUST_CHECK int bulk_drop_ref(struct store_tx *tx, uint64_t number, struct buf *dead);

/* Inside a transaction: set the number of references, one or more. */
void bulk_put_refs(struct store_tx *tx, uint64_t number, uint64_t refs);

/*
 * Remove a pending bulk. A pinned bulk is removed when its last pin goes, if it is still pending
 * then. Any thread.
 */
void bulk_remove(struct store *st, uint64_t number);

/* Keep a bulk for a reader, or for a version that will be saved. -ENOMEM. Any thread. */
MUST_CHECK int bulk_pin(struct store *st, uint64_t number);
void bulk_unpin(struct store *st, uint64_t number);

#define BULK_PIN_LISTS 256

/* The store's table of pins. */
struct bulk_pins {
	struct mutex lock;
	struct bulk_pinned *lists[BULK_PIN_LISTS] GUARDED_BY(lock);
};

/* Remove all bulks, for an engine that forgets its rows. */
void bulk_clear(struct store *st);

/* At the start of the daemon: remove the pending bulks that it made. */
MUST_CHECK int bulk_recover(struct store *st, struct err *err);

#endif
