/*
 * Sums: checksums of the bytes of a bulk, as they lie in its file.
 *
 * A bulk is divided into blocks of SUMS_BLOCK bytes. Rows: KEY_SUMS bulk page -> the sums of
 * SUMS_PAGE blocks, each with the number of bytes that the sum covers: the whole block, but for
 * the last one. Bytes that a sum covers never change; the row of the last block is written again
 * when more of it is covered.
 */
#ifndef STORE_ARTIFACT_SUMS_H
#define STORE_ARTIFACT_SUMS_H

#include "store/tx/store.h"

#define SUMS_BLOCK (64u << 10)
#define SUMS_PAGE  1024

struct block_sum {
	uint32_t coding; /* how the bytes are stored: 0: as they are */
	uint32_t covered;
	uint64_t sum; /* XXH3, 64 bits */
};

/* The sums of bytes that are appended to a bulk. All zero is a bulk without bytes. */
struct sums {
	uint64_t page; /* the one that is being filled; those before it are stored */
	size_t count;  /* its blocks, counting a last one that is not full */
	struct block_sum *blocks;
	struct XXH3_state_s *last; /* of the last block */
};

void sums_release(struct sums *s);

/* Sum bytes that were appended to a bulk. Pages that are full are stored at once. */
MUST_CHECK int sums_append(struct sums *s, struct store *st, uint64_t bulk, struct span data,
			   struct err *err);

/* Inside a transaction: store the page that is being filled. */
MUST_CHECK int sums_save(const struct sums *s, struct store_tx *tx, uint64_t bulk);

/*
 * Load a page to *blocks, an array of SUMS_PAGE; those that are not there cover nothing. -ENOENT:
 * the bulk has no such page; -EIO: the row is damaged.
 */
MUST_CHECK int sums_load(struct store *st, uint64_t bulk, uint64_t page, struct block_sum *blocks,
			 struct err *err);

/* Whether the bytes of a block, as many as its sum covers, are right. */
bool sums_match(const struct block_sum *b, const char *bytes);

/* Inside a transaction: delete the sums of a bulk. */
MUST_CHECK int sums_drop(struct store_tx *tx, uint64_t bulk);

#endif
