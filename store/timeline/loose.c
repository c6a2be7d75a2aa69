/*
 * Loose rows: see loose.h.
 *
 * Row: KEY_LOOSE number -> record: node, kind.
 */
#include "store/timeline/loose.h"

#include "store/artifact/artifact.h"
#include "store/session/scope.h"
#include "store/tx/record.h"

#include <errno.h>

#define ROWS_AT_ONCE 256 /* of artifacts, in one transaction */
#define FEW_ROWS     256 /* are deleted one by one: deleted ranges slow down all reads */

void loose_put(struct store_tx *tx, uint64_t number, enum loose_kind kind)
{
	CLEANUP(buf_release) struct buf value = { 0 };
	struct key key = key_1(KEY_LOOSE, number);

	record_number(&value, store_node(tx->st));
	record_number(&value, kind);
	store_put(tx, &key, buf_span(&value));
}

int loose_publish(struct store_tx *tx, uint64_t number)
{
	CLEANUP(buf_release) struct buf value = { 0 };
	struct key key = key_1(KEY_LOOSE, number);
	int r = store_get(tx, &key, &value);

	if (r == -ENOENT)
		return err_set(tx->err, -ESTALE, "the copy was removed before it was complete");
	if (r == 0)
		store_delete(tx, &key);
	return r;
}

struct drop {
	uint64_t number;
	bool more_artifacts;
	struct key prefix; /* of the space that is looked at */
	size_t rows;
	struct buf keys; /* texts: the first FEW_ROWS rows */
	struct buf dead; /* numbers of bulks */
};

static int drop_artifacts(struct store_tx *tx, void *arg)
{
	struct drop *d = arg;
	size_t budget = ROWS_AT_ONCE;
	int r;

	buf_clear(&d->dead);
	r = artifact_remove_some(tx, d->number, &budget, &d->dead);
	d->more_artifacts = r > 0;
	return r;
}

static int note_row(void *arg, struct span key, struct span value)
{
	struct drop *d = arg;

	(void)value;
	record_text(&d->keys, key);
	return d->keys.failed ? -ENOMEM : ++d->rows > FEW_ROWS;
}

static int look_at_space(struct store *st, struct drop *d, enum key_space space, struct err *err)
{
	d->prefix = key_1(space, d->number);
	return store_rows(st, &d->prefix, &d->prefix, note_row, d, err);
}

static void drop_noted(struct store_tx *tx, const struct drop *d)
{
	struct record_reader keys = { .left = buf_span(&d->keys) };

	while (keys.left.len) {
		struct key key = key_from(record_take_text(&keys));

		store_delete(tx, &key);
	}
}

static int drop_space(struct store_tx *tx, void *arg)
{
	const struct drop *d = arg;

	if (d->rows > FEW_ROWS)
		store_delete_all(tx, &d->prefix);
	else
		drop_noted(tx, d);
	return 0;
}

static int drop_rest(struct store_tx *tx, void *arg)
{
	const struct drop *d = arg;
	struct key mark = key_1(KEY_LOOSE, d->number);

	drop_noted(tx, d);
	store_delete(tx, &mark);
	return 0;
}

static int drop_part_of_artifacts(struct store *st, struct drop *d, struct err *err)
{
	int r = store_update(st, drop_artifacts, d, err);

	if (r >= 0)
		artifact_remove_bulks(st, &d->dead);
	return r < 0 ? r : d->more_artifacts;
}

/* If few rows are left, delete them with the mark. 1: there are more. */
static int drop_few(struct store *st, struct drop *d, struct err *err)
{
	size_t i;
	int r = 0;

	d->rows = 0;
	buf_clear(&d->keys);
	for (i = 0; r == 0 && scope_spaces[i]; i++)
		r = look_at_space(st, d, scope_spaces[i], err);
	return r ? r : store_update(st, drop_rest, d, err);
}

/* Delete the rows of one space after the other. */
static int drop_many(struct store *st, struct drop *d, struct err *err)
{
	size_t i;
	int r = 0;

	for (i = 0; r >= 0 && scope_spaces[i]; i++) {
		d->rows = 0;
		buf_clear(&d->keys);
		r = look_at_space(st, d, scope_spaces[i], err);
		if (r >= 0 && d->rows)
			r = store_update(st, drop_space, d, err);
	}
	return r < 0 ? r : drop_few(st, d, err);
}

int loose_drop_few(struct store *st, uint64_t number, struct err *err)
{
	struct drop d = { .number = number };
	int r = drop_part_of_artifacts(st, &d, err);

	if (r == 0)
		r = drop_few(st, &d, err);
	buf_release(&d.keys);
	buf_release(&d.dead);
	return r;
}

int loose_drop(struct store *st, uint64_t number, struct err *err)
{
	struct drop d = { .number = number };
	int r;

	do {
		r = drop_part_of_artifacts(st, &d, err);
	} while (r > 0);
	if (r == 0)
		r = drop_few(st, &d, err);
	if (r > 0)
		r = drop_many(st, &d, err);
	buf_release(&d.keys);
	buf_release(&d.dead);
	return r;
}

struct own {
	uint64_t node;
	bool all; /* forks too */
	struct buf *numbers;
};

static int note_own(void *arg, struct span key, struct span value)
{
	struct own *own = arg;
	struct record_reader r = { .left = value };
	uint64_t node = record_take_number(&r);
	uint64_t kind = record_take_number(&r);

	if (node && node != own->node) /* a row of an older store has no node */
		return 0;
	return own->all || kind == LOOSE_REMOVED ? store_note_number(own->numbers, key, value) : 0;
}

static int list_own(struct store *st, bool all, struct buf *numbers, struct err *err)
{
	struct own own = { store_node(st), all, numbers };
	struct key prefix = key_space(KEY_LOOSE);

	return store_rows(st, &prefix, &prefix, note_own, &own, err);
}

int loose_drop_all(struct store *st, struct err *err)
{
	CLEANUP(buf_release) struct buf numbers = { 0 };
	const uint64_t *list;
	size_t count;
	size_t i;
	int r = list_own(st, false, &numbers, err);

	list = BUF_LIST(uint64_t, &numbers, &count);
	for (i = 0; r == 0 && i < count; i++)
		r = loose_drop(st, list[i], err);
	return r;
}

static int give_up(struct store_tx *tx, void *arg)
{
	size_t count;
	const uint64_t *list = BUF_LIST(uint64_t, (struct buf *)arg, &count);
	size_t i;

	for (i = 0; i < count; i++)
		loose_put(tx, list[i], LOOSE_REMOVED);
	return 0;
}

int loose_recover(struct store *st, struct err *err)
{
	CLEANUP(buf_release) struct buf numbers = { 0 };
	int r = list_own(st, true, &numbers, err);

	return r == 0 && numbers.len ? store_update(st, give_up, &numbers, err) : r;
}
