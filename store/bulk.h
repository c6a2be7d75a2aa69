/*
 * Bulk bytes: what is too large for rows, written once, to a file of its own.
 *
 * A bulk has a number and lies in FOLDER/bulk. Until a transaction publishes
 * it (by deleting its KEY_PENDING row together with the write that refers to
 * it) it belongs to nobody, and the next start removes it.
 */
#ifndef STORE_BULK_H
#define STORE_BULK_H

#include "store/store.h"

/* A new empty one, pending, open for reading and writing. Returns a descriptor or -errno. */
MUST_CHECK int bulk_create(struct store *st, uint64_t *number, struct err *err);

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

/* A new bulk, as bulk_create(). 0 or -errno. */
MUST_CHECK int bulk_writer_open(struct bulk_writer *w, struct store *st, uint64_t *number,
				struct err *err);
MUST_CHECK int bulk_write(struct bulk_writer *w, uint64_t offset, struct span data);
/* What was written is in the file now. */
MUST_CHECK int bulk_drain(struct bulk_writer *w);
MUST_CHECK int bulk_truncate(struct bulk_writer *w, uint64_t size);
void bulk_writer_close(struct bulk_writer *w);

/* Open one for reading. A descriptor, or -errno. The caller closes it. */
MUST_CHECK int bulk_open(struct store *st, uint64_t number, struct err *err);

/* Inside a transaction: a version refers to it from now on; or none does any more. */
void bulk_publish(struct store_tx *tx, uint64_t number);
void bulk_abandon(struct store_tx *tx, uint64_t number);

/* Remove the file and the pending row of one that nobody refers to. */
void bulk_remove(struct store *st, uint64_t number);

/* Remove all, for an engine that forgets what refers to them. */
void bulk_clear(struct store *st);

/* At start: remove what was pending. */
MUST_CHECK int bulk_recover(struct store *st, struct err *err);

#endif
