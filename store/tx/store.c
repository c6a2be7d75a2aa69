/*
 * The store: see store.h.
 */
#include "store/tx/store.h"

#include "base/clock.h"
#include "store/tx/inside.h"
#include "store/tx/record.h"

#include <errno.h>
#include <stdlib.h>

#define NUMBERS_AT_ONCE 1024
#define NUMBERS_MOST    (1u << 20)
#define NUMBERS_SOON_NS (100 * (uint64_t)NSEC_PER_MSEC)
#define TRIES_BESIDE    8 /* a transaction that lost so many races runs alone */
#define TRIES_NS        (60 * (uint64_t)NSEC_PER_SEC) /* for engines that others write to as well */

uint64_t ref_number(struct ref ref)
{
	return ref.session ? ref.session : ref.user ? ref.user : ref.app;
}

struct ref ref_parent(struct ref ref)
{
	if (ref.session)
		ref.session = 0;
	else if (ref.user)
		ref.user = 0;
	else
		ref.app = 0;
	return ref;
}

struct ref ref_child(struct ref parent, uint64_t number)
{
	if (parent.user)
		parent.session = number;
	else if (parent.app)
		parent.user = number;
	else
		parent.app = number;
	return parent;
}

int store_get(struct store_tx *tx, const struct key *key, struct buf *value)
{
	int r = tx->ops->get(tx->txn, key_span(key), value);

	if (r == -EIO)
		return err_set(tx->err, -EIO, "the store cannot be read");
	return r;
}

void store_put(struct store_tx *tx, const struct key *key, struct span value)
{
	tx->ops->put(tx->txn, key_span(key), value);
}

void store_put_number(struct store_tx *tx, const struct key *key, uint64_t number)
{
	struct key value = key_1(KEY_META_COUNTER, number);

	store_put(tx, key, span_sub(key_span(&value), 1, value.len));
}

void store_delete(struct store_tx *tx, const struct key *key)
{
	tx->ops->del(tx->txn, key_span(key));
}

void store_delete_all(struct store_tx *tx, const struct key *prefix)
{
	struct key end = key_after(*prefix);

	tx->ops->del_range(tx->txn, key_span(prefix), key_span(&end));
}

int store_scan(struct store_tx *tx, const struct key *from, const struct key *prefix, pair_fn *fn,
	       void *arg)
{
	struct key end = key_after(*prefix);

	return tx->ops->scan(tx->txn, key_span(from), key_span(&end), fn, arg);
}

struct change *store_add_change(struct store_tx *tx, enum change_kind kind, struct ref ref)
{
	size_t n = tx->change_count;
	struct change *list;

	if (!(n & (n - 1))) {
		list = realloc(tx->changes, (n ? n * 2 : 1) * sizeof *list);
		if (!list)
			return NULL;
		tx->changes = list;
	}
	tx->changes[n] = (struct change){ .kind = kind, .ref = ref };
	tx->change_count++;
	return &tx->changes[n];
}

static void tell_change(struct store *st, const struct change *change)
{
	st->notice(st, change);
	if (st->watch)
		st->watch(st->watch_arg, change);
}

/* Run tx once. -EAGAIN: it lost a race. */
static int try_once(struct store_tx *tx, store_tx_fn *fn, void *arg)
{
	int r;

	if (tx->ops->begin(tx->st->eng, &tx->txn) < 0)
		return err_nomem(tx->err);
	r = fn(tx, arg);
	if (r < 0) {
		tx->ops->abort(tx->txn);
		return r;
	}
	return tx->ops->commit(tx->txn, tx->st->durability, tx->err);
}

static int try_in_order(struct store_tx *tx, store_tx_fn *fn, void *arg, unsigned lost)
{
	struct writers *w = &tx->st->writers;
	int r;

	if (lost < TRIES_BESIDE) {
		writers_enter(w);
		r = try_once(tx, fn, arg);
		writers_leave(w);
	} else {
		writers_enter_alone(w);
		r = try_once(tx, fn, arg);
		writers_leave_alone(w);
	}
	return r;
}

static int take_numbers(struct store_tx *tx, void *arg)
{
	struct numbers *numbers = arg;
	CLEANUP(buf_release) struct buf value = { 0 };
	struct key key = key_space(KEY_META_COUNTER);
	int r = store_get(tx, &key, &value);

	if (r < 0 && r != -ENOENT)
		return r;
	numbers->first = r == 0 ? key_last_number(buf_span(&value)) : KEY_FIRST;
	store_put_number(tx, &key, numbers->first + numbers->count);
	return 0;
}

static uint64_t number_in_hand(struct store *st)
{
	uint64_t number = 0;

	mutex_lock(&st->numbers_lock);
	if (st->next_number < st->end_number)
		number = st->next_number++;
	mutex_unlock(&st->numbers_lock);
	return number;
}

/* How many numbers to take: twice as many each time while they are used up fast. */
static uint64_t numbers_wanted(struct store *st)
{
	uint64_t now = clock_monotonic();
	uint64_t count;

	mutex_lock(&st->numbers_lock);
	count = NUMBERS_AT_ONCE;
	if (st->numbers_at && now - st->numbers_at < NUMBERS_SOON_NS)
		count = MIN(st->numbers_size * 2, NUMBERS_MOST);
	st->numbers_at = now;
	st->numbers_size = count;
	mutex_unlock(&st->numbers_lock);
	return count;
}

/*
 * Take numbers from the store. This does not wait for other writers, because running transactions
 * take numbers too. Only the counter is written, so no other transaction loses for long.
 */
static int store_take_numbers(struct store *st, struct numbers *numbers, struct err *err)
{
	uint64_t end = clock_monotonic() + TRIES_NS;
	int r;

	do {
		struct store_tx tx = { .st = st, .ops = st->ops, .err = err };

		r = try_once(&tx, take_numbers, numbers);
	} while (r == -EAGAIN && clock_monotonic() < end);
	return r == -EAGAIN ? err_set(err, -EBUSY, "too many writers at once") : r;
}

uint64_t store_new_number(struct store *st, struct err *err)
{
	uint64_t number = number_in_hand(st);
	struct numbers numbers;

	while (!number) {
		numbers.count = numbers_wanted(st);
		if (store_take_numbers(st, &numbers, err) < 0)
			return 0;
		/* Another thread may have been here too: its numbers or ours go unused. */
		mutex_lock(&st->numbers_lock);
		if (st->next_number >= st->end_number) {
			st->next_number = numbers.first;
			st->end_number = numbers.first + numbers.count;
		}
		mutex_unlock(&st->numbers_lock);
		number = number_in_hand(st);
	}
	return number;
}

uint64_t store_tx_number(struct store_tx *tx)
{
	uint64_t used = tx->numbers_used++;

	if (used < tx->numbers.count)
		return tx->numbers.first + used;
	return store_new_number(tx->st, tx->err);
}

/*
 * Prepare the next try after a lost race. It gets as many numbers as this try used. So it does
 * not write to the counter, which would make a large transaction lose each time.
 */
static int prepare_again(struct store_tx *tx)
{
	struct store_tx next = {
		.st = tx->st, .ops = tx->ops, .err = tx->err, .numbers = tx->numbers
	};
	int r = 0;

	if (tx->numbers_used > tx->numbers.count) {
		next.numbers.count = tx->numbers_used;
		r = store_take_numbers(tx->st, &next.numbers, tx->err);
	}
	free(tx->changes);
	*tx = next;
	return r;
}

/* A short wait that grows with the number of lost races. */
static void back_off(unsigned lost)
{
	struct timespec ts = { 0, 1000L << MIN(lost, 10) };

	if (lost > 2)
		(void)nanosleep(&ts, NULL);
}

int store_update(struct store *st, store_tx_fn *fn, void *arg, struct err *err)
{
	struct store_tx tx = { .st = st, .ops = st->ops, .err = err };
	uint64_t end = clock_monotonic() + TRIES_NS;
	unsigned lost = 0;
	size_t i;
	int r = try_in_order(&tx, fn, arg, lost);

	while (r == -EAGAIN && clock_monotonic() < end) {
		r = prepare_again(&tx);
		if (r < 0)
			break;
		back_off(++lost);
		r = try_in_order(&tx, fn, arg, lost);
	}
	for (i = 0; r == 0 && i < tx.change_count; i++)
		tell_change(st, &tx.changes[i]);
	free(tx.changes);
	return r == -EAGAIN ? err_set(err, -EBUSY, "too many writers at once") : r;
}

int store_view(struct store *st, store_tx_fn *fn, void *arg, struct err *err)
{
	struct store_tx tx = { .st = st, .ops = st->ops, .err = err };
	int r;

	if (st->ops->begin(st->eng, &tx.txn) < 0)
		return err_nomem(err);
	r = fn(&tx, arg);
	st->ops->abort(tx.txn);
	free(tx.changes);
	return r;
}

struct rows {
	const struct key *from;
	const struct key *prefix;
	pair_fn *fn;
	void *arg;
};

static int scan_rows(struct store_tx *tx, void *arg)
{
	const struct rows *rows = arg;

	return store_scan(tx, rows->from, rows->prefix, rows->fn, rows->arg);
}

int store_rows(struct store *st, const struct key *from, const struct key *prefix, pair_fn *fn,
	       void *arg, struct err *err)
{
	struct rows rows = { from, prefix, fn, arg };

	return store_view(st, scan_rows, &rows, err);
}

struct own_rows {
	uint64_t node;
	struct buf *numbers;
};

int store_note_number(void *arg, struct span key, struct span value)
{
	uint64_t number = key_last_number(key);

	(void)value;
	buf_add(arg, &number, sizeof number);
	return buf_check(arg, NULL);
}

static int note_own(void *arg, struct span key, struct span value)
{
	struct own_rows *own = arg;
	struct record_reader r = { .left = value };
	uint64_t node = record_take_number(&r);

	return !node || node == own->node ? store_note_number(own->numbers, key, value) : 0;
}

int store_own_rows(struct store *st, enum key_space space, struct buf *numbers, struct err *err)
{
	struct own_rows own = { st->node, numbers };
	struct key prefix = key_space(space);

	return store_rows(st, &prefix, &prefix, note_own, &own, err);
}

void store_watch(struct store *st, watch_fn *fn, void *arg)
{
	st->watch = fn;
	st->watch_arg = arg;
}

int store_sync(struct store *st, struct err *err)
{
	return st->ops->sync(st->eng, err);
}

struct memory_worker *store_memory(struct store *st)
{
	return st->memory;
}

struct bulk_pins *store_pins(struct store *st)
{
	return st->pins;
}

enum durability store_durability(const struct store *st)
{
	return st->durability;
}

const char *store_folder(const struct store *st)
{
	return st->folder;
}

const char *store_engine(const struct store *st)
{
	return st->ops->name;
}

uint64_t store_node(const struct store *st)
{
	return st->node;
}
