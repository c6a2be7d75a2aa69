/*
 * Readers of bulks: an open file whose bytes are checked against their sums when they are read.
 */
#ifndef STORE_ARTIFACT_READER_H
#define STORE_ARTIFACT_READER_H

#include "store/artifact/sums.h"

struct bulk_reader;

/* Open a bulk. *out has one reference. -ENOENT: the store has lost the file. */
MUST_CHECK int bulk_reader_open(struct store *st, uint64_t bulk, struct bulk_reader **out,
				struct err *err);

/*
 * A reader of bytes that this process is writing, which are not checked. The reader owns fd. NULL:
 * out of memory, and fd stays the caller's.
 */
struct bulk_reader *bulk_reader_of(uint64_t bulk, int fd);

struct bulk_reader *bulk_reader_ref(struct bulk_reader *rd);
void bulk_reader_unref(struct bulk_reader *rd); /* NULL is fine */

uint64_t bulk_reader_bulk(const struct bulk_reader *rd);

/* Read `len` bytes at an offset. -EIO: bytes are missing or damaged. Any thread. */
MUST_CHECK int bulk_read(struct bulk_reader *rd, uint64_t at, size_t len, char *to,
			 struct err *err);

#endif
