/*
 * Bulk bytes: what is too large for rows, written once, to a file of its own.
 *
 * A bulk has a number and lies in FOLDER/bulk. Versions refer to it; how many is
 * in its KEY_REF row, which is only there for more than one. While a
 * KEY_PENDING row is there it belongs to nobody, and the next start removes it.
 */
#ifndef STORE_ARTIFACT_BULK_H
#define STORE_ARTIFACT_BULK_H

#include "base/mutex.h"
#include "store/tx/store.h"

/*
 * Writing one: what comes in order is collected and goes past the page cache,
 * since nobody may read it for long; the rest is written where it belongs.
 * All zero but fd = -1 and direct = -1 before bulk_writer_open().
 */
struct bulk_writer {
	int fd;
	int direct; /* the same file with O_DIRECT; -1: not possible here */
	char *buffer;
	uint64_t start; /* of what is in the buffer; a multiple of BULK_ALIGN */
	size_t len;
	uint64_t size; /* of the file, with what is in the buffer */
};

#define BULK_ALIGN  4096
#define BULK_BUFFER (1u << 20)
#define BULK_SMALL  (256u << 10) /* less than this is left to the page cache */

/* Make an empty bulk, pending, and open it for writing. 0 or -errno. */
MUST_CHECK int bulk_writer_open(struct bulk_writer *w, struct store *st, uint64_t *number,
				struct err *err);
MUST_CHECK int bulk_write(struct bulk_writer *w, uint64_t offset, struct span data);
/* Write the buffer to the file. */
MUST_CHECK int bulk_drain(struct bulk_writer *w);
void bulk_writer_close(struct bulk_writer *w);

/* Open one for reading. A descriptor, or -errno. The caller closes it. */
MUST_CHECK int bulk_open(struct store *st, uint64_t number, struct err *err);

/*
 * Inside a transaction: one more version refers to it, or one less. What has no
 * reference left is pending again, and its number is appended to dead, for
 * bulk_remove() after the commit.
 */
MUST_CHECK int bulk_add_ref(struct store_tx *tx, uint64_t number);
MUST_CHECK int bulk_drop_ref(struct store_tx *tx, uint64_t number, struct buf *dead);

/*
 * Remove the file and the pending row of one that nobody refers to. One that is
 * pinned is removed when its last pin goes, unless a version has got it by then.
 */
void bulk_remove(struct store *st, uint64_t number);

/* Somebody reads it, or is about to make a version with it. 0 or -ENOMEM. Any thread. */
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

/* At start: remove all pending bulks. */
MUST_CHECK int bulk_recover(struct store *st, struct err *err);

#endif
