/*
 * Converting rows of an older store, some at a time: see store.h.
 */
#include "base/clock.h"
#include "store/tx/inside.h"
#include "store/tx/record.h"

#include <errno.h>
#include <stdio.h>

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

void store_converts(struct store *st, const char *what, size_t at, size_t parts)
{
	char sentence[512];

	(void)snprintf(sentence, sizeof sentence, "store %s is converted: %s (%zu of %zu)",
		       st->folder, what, at, parts);
	if (st->say)
		st->say(sentence);
	st->said_at = clock_monotonic();
}

void store_progress(struct store *st, uint64_t done, const char *unit)
{
	char sentence[512];

	if (!st->say || clock_monotonic() - st->said_at < NSEC_PER_SEC)
		return;
	st->said_at = clock_monotonic();
	(void)snprintf(sentence, sizeof sentence, "store %s is converted: %llu %s so far",
		       st->folder, (unsigned long long)done, unit);
	st->say(sentence);
}

int store_convert(struct store *st, const struct key *prefix, store_convert_fn *fn, struct err *err)
{
	struct converting c = { .fn = fn, .next = *prefix };
	uint64_t done = 0;
	int more;
	int r;

	do {
		c.count = 0;
		buf_clear(&c.rows);
		more = r = store_rows(st, &c.next, prefix, collect, &c, err);
		if (r >= 0)
			r = store_update(st, convert, &c, err);
		done += c.count;
		store_progress(st, done, "rows");
	} while (r == 0 && more);
	buf_release(&c.rows);
	return r;
}
