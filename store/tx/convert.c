/*
 * Converting rows of an older store, some at a time: see store.h.
 */
#include "store/tx/record.h"
#include "store/tx/store.h"

#include <errno.h>

#define ROWS_AT_ONCE  512
#define BYTES_AT_ONCE (1u << 20)

struct converting {
	store_convert_fn *fn;
	struct key next; /* the first row that was not collected */
	size_t count;
	struct buf rows; /* texts: key, value */
};

static int collect(void *arg, struct span key, struct span value)
{
	struct converting *c = arg;

	record_text(&c->rows, key);
	record_text(&c->rows, value);
	c->next = key_next(key);
	c->count++;
	if (c->rows.failed)
		return -ENOMEM;
	return c->count == ROWS_AT_ONCE || c->rows.len >= BYTES_AT_ONCE;
}

static int convert(struct store_tx *tx, void *arg)
{
	struct converting *c = arg;
	struct record_reader reader = { .left = buf_span(&c->rows) };
	int r = 0;

	while (r == 0 && reader.left.len) {
		struct span key = record_take_text(&reader);

		r = c->fn(tx, key, record_take_text(&reader));
	}
	return r;
}

int store_convert(struct store *st, const struct key *prefix, store_convert_fn *fn, struct err *err)
{
	struct converting c = { .fn = fn, .next = *prefix };
	int more;
	int r;

	do {
		c.count = 0;
		buf_clear(&c.rows);
		more = r = store_rows(st, &c.next, prefix, collect, &c, err);
		if (r >= 0)
			r = store_update(st, convert, &c, err);
	} while (r == 0 && more);
	buf_release(&c.rows);
	return r;
}
