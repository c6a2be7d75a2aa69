/*
 * Sums: see sums.h. A row is, for each block: coding, covered, and the sum in 8 bytes, little
 * endian.
 */
#include "store/artifact/sums.h"

#include "store/tx/record.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <xxhash.h>

void sums_release(struct sums *s)
{
	free(s->blocks);
	(void)XXH3_freeState(s->last);
	*s = (struct sums){ 0 };
}

static int begin(struct sums *s)
{
	if (!s->blocks)
		s->blocks = calloc(SUMS_PAGE, sizeof *s->blocks);
	if (!s->last)
		s->last = XXH3_createState();
	return s->blocks && s->last ? 0 : -ENOMEM;
}

struct saving {
	const struct sums *sums;
	uint64_t bulk;
};

static int save(struct store_tx *tx, void *arg)
{
	const struct saving *sv = arg;

	return sums_save(sv->sums, tx, sv->bulk);
}

/* The block that takes the next bytes: the last one, or a new one after a full one. */
static int open_block(struct sums *s, struct store *st, uint64_t bulk, struct err *err)
{
	struct saving sv = { s, bulk };
	int r = 0;

	if (s->count && s->blocks[s->count - 1].covered < SUMS_BLOCK)
		return 0;
	if (s->count == SUMS_PAGE) {
		r = store_update(st, save, &sv, err);
		if (r < 0)
			return r;
		s->page++;
		s->count = 0;
	}
	s->blocks[s->count++] = (struct block_sum){ 0 };
	XXH3_64bits_reset(s->last);
	return 0;
}

int sums_append(struct sums *s, struct store *st, uint64_t bulk, struct span data, struct err *err)
{
	int r = begin(s);

	if (r < 0)
		return err_nomem(err);
	while (r == 0 && data.len) {
		struct block_sum *b;
		size_t n;

		r = open_block(s, st, bulk, err);
		if (r < 0)
			return r;
		b = &s->blocks[s->count - 1];
		n = MIN(data.len, SUMS_BLOCK - b->covered);
		XXH3_64bits_update(s->last, data.data, n);
		b->covered += (uint32_t)n;
		b->sum = b->covered == SUMS_BLOCK ? XXH3_64bits_digest(s->last) : 0;
		data = span_sub(data, n, data.len);
	}
	return 0;
}

static void put_block(struct buf *out, const struct block_sum *b, uint64_t sum)
{
	uint64_t bytes = htole64(sum);

	record_number(out, b->coding);
	record_number(out, b->covered);
	buf_add(out, &bytes, sizeof bytes);
}

int sums_save(const struct sums *s, struct store_tx *tx, uint64_t bulk)
{
	CLEANUP(buf_release) struct buf row = { 0 };
	struct key key = key_2(KEY_SUMS, bulk, s->page);
	size_t i;

	if (!s->count)
		return 0;
	for (i = 0; i < s->count; i++) {
		const struct block_sum *b = &s->blocks[i];

		put_block(&row, b, b->covered < SUMS_BLOCK ? XXH3_64bits_digest(s->last) : b->sum);
	}
	store_put(tx, &key, buf_span(&row));
	return buf_check(&row, tx->err);
}

static int decode(struct span row, struct block_sum *blocks)
{
	struct record_reader r = { .left = row };
	size_t i;

	memset(blocks, 0, SUMS_PAGE * sizeof *blocks);
	for (i = 0; r.left.len && i < SUMS_PAGE; i++) {
		uint64_t sum;

		blocks[i].coding = (uint32_t)record_take_number(&r);
		blocks[i].covered = (uint32_t)record_take_number(&r);
		if (r.bad || r.left.len < sizeof sum || blocks[i].coding ||
		    blocks[i].covered > SUMS_BLOCK)
			return -EIO;
		memcpy(&sum, r.left.data, sizeof sum);
		blocks[i].sum = le64toh(sum);
		r.left = span_sub(r.left, sizeof sum, r.left.len);
	}
	return r.left.len ? -EIO : 0;
}

struct loading {
	struct key key;
	struct block_sum *blocks;
};

static int load(struct store_tx *tx, void *arg)
{
	const struct loading *l = arg;
	CLEANUP(buf_release) struct buf row = { 0 };
	int r = store_get(tx, &l->key, &row);

	return r < 0 ? r : decode(buf_span(&row), l->blocks);
}

int sums_load(struct store *st, uint64_t bulk, uint64_t page, struct block_sum *blocks,
	      struct err *err)
{
	struct loading l = { key_2(KEY_SUMS, bulk, page), blocks };

	return store_view(st, load, &l, err);
}

bool sums_match(const struct block_sum *b, const char *bytes)
{
	return XXH3_64bits(bytes, b->covered) == b->sum;
}

static int drop_row(void *arg, struct span key, struct span value)
{
	struct key row = key_from(key);

	(void)value;
	store_delete(arg, &row);
	return 0;
}

int sums_drop(struct store_tx *tx, uint64_t bulk)
{
	struct key prefix = key_1(KEY_SUMS, bulk);

	return store_scan(tx, &prefix, &prefix, drop_row, tx);
}
