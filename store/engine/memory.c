/*
 * The engine in memory: a close loses everything. It serves tests, and mounts that must leave no
 * trace.
 *
 * A sorted array of keys, each with its versions, newest last. A transaction
 * reads the versions that were committed when it took its snapshot. Versions
 * that nobody can read any more are dropped when their key is written again.
 */
#include "store/engine/conflict.h"
#include "store/engine/engine.h"

#include <errno.h>
#include <stdlib.h>

struct version {
	uint64_t commit;
	bool deleted;
	struct buf value;
};

struct row {
	struct buf key;
	struct version *versions;
	size_t count;
};

struct engine {
	struct conflict_table conflicts;

	struct mutex lock;
	struct row **rows GUARDED_BY(lock); /* sorted by key */
	size_t count GUARDED_BY(lock);
	size_t cap GUARDED_BY(lock);
	uint64_t commits GUARDED_BY(lock);
	struct txn *open GUARDED_BY(lock); /* transactions that hold a snapshot */
};

struct txn {
	struct engine *eng;
	bool has_snapshot;
	uint64_t snapshot;
	struct txn *next; /* guarded by eng->lock */
	struct conflict_set set;
};

static int open_engine(const char *where, struct engine **out, struct err *err)
{
	struct engine *eng = calloc(1, sizeof *eng);

	(void)where; /* nothing is kept */
	if (!eng)
		return err_nomem(err);
	conflict_table_init(&eng->conflicts);
	mutex_init(&eng->lock);
	*out = eng;
	return 0;
}

static void free_row(struct row *row)
{
	size_t i;

	for (i = 0; i < row->count; i++)
		buf_release(&row->versions[i].value);
	free(row->versions);
	buf_release(&row->key);
	free(row);
}

static void close_engine(struct engine *eng) NO_THREAD_ANALYSIS /* nobody else is left */
{
	size_t i;

	for (i = 0; i < eng->count; i++)
		free_row(eng->rows[i]);
	free(eng->rows);
	mutex_release(&eng->lock);
	conflict_table_release(&eng->conflicts);
	free(eng);
}

static int begin(struct engine *eng, struct txn **out)
{
	struct txn *tx = calloc(1, sizeof *tx);

	if (!tx)
		return -ENOMEM;
	tx->eng = eng;
	*out = tx;
	return 0;
}

static void need_snapshot(struct txn *tx)
{
	struct engine *eng = tx->eng;

	if (tx->has_snapshot)
		return;
	conflict_begin(&eng->conflicts, &tx->set);
	mutex_lock(&eng->lock);
	tx->snapshot = eng->commits;
	tx->next = eng->open;
	eng->open = tx;
	mutex_unlock(&eng->lock);
	tx->has_snapshot = true;
}

static void end(struct txn *tx)
{
	struct txn **at;

	if (tx->has_snapshot) {
		mutex_lock(&tx->eng->lock);
		for (at = &tx->eng->open; *at != tx; at = &(*at)->next)
			;
		*at = tx->next;
		mutex_unlock(&tx->eng->lock);
	}
	conflict_release(&tx->set);
	free(tx);
}

/* The first row whose key is not smaller. */
static size_t lower_bound_locked(struct engine *eng, struct span key) REQUIRES(eng->lock)
{
	size_t low = 0;
	size_t high = eng->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (span_compare(buf_span(&eng->rows[middle]->key), key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The version of a row that the transaction sees; NULL: none. */
static const struct version *visible(const struct row *row, uint64_t snapshot)
{
	size_t i;

	for (i = row->count; i-- > 0;) {
		if (row->versions[i].commit <= snapshot)
			return row->versions[i].deleted ? NULL : &row->versions[i];
	}
	return NULL;
}

static int get(struct txn *tx, struct span key, struct buf *value)
{
	struct engine *eng = tx->eng;
	const struct version *seen = NULL;
	struct span found;
	size_t i;
	int own = conflict_own(&tx->set, key, &found);

	if (own < 0)
		return own;
	if (own) {
		buf_span_add(value, found);
		return buf_check(value, NULL);
	}
	need_snapshot(tx);
	conflict_note_read(&tx->set, key);
	mutex_lock(&eng->lock);
	i = lower_bound_locked(eng, key);
	if (i < eng->count && span_equal(buf_span(&eng->rows[i]->key), key))
		seen = visible(eng->rows[i], tx->snapshot);
	if (seen)
		buf_span_add(value, buf_span(&seen->value));
	mutex_unlock(&eng->lock);
	return seen ? buf_check(value, NULL) : -ENOENT;
}

/* Copy the first visible pair with a key from `at` on. False: there is none before `to`. */
static bool next_pair(struct txn *tx, struct span at, struct span to, struct buf *key,
		      struct buf *value)
{
	struct engine *eng = tx->eng;
	const struct version *seen = NULL;
	size_t i;

	mutex_lock(&eng->lock);
	for (i = lower_bound_locked(eng, at); i < eng->count && !seen; i++) {
		if (span_compare(buf_span(&eng->rows[i]->key), to) >= 0)
			break;
		seen = visible(eng->rows[i], tx->snapshot);
		if (!seen)
			continue;
		buf_clear(key);
		buf_clear(value);
		buf_span_add(key, buf_span(&eng->rows[i]->key));
		buf_span_add(value, buf_span(&seen->value));
	}
	mutex_unlock(&eng->lock);
	return seen;
}

static int scan(struct txn *tx, struct span from, struct span to, pair_fn *fn, void *arg)
{
	CLEANUP(buf_release) struct buf at = { 0 };
	CLEANUP(buf_release) struct buf key = { 0 };
	CLEANUP(buf_release) struct buf value = { 0 };
	int r = 0;

	need_snapshot(tx);
	buf_span_add(&at, from);
	while (r == 0 && next_pair(tx, buf_span(&at), to, &key, &value)) {
		r = buf_check(&key, NULL);
		if (r == 0)
			r = buf_check(&value, NULL);
		if (r == 0)
			r = fn(arg, buf_span(&key), buf_span(&value));
		buf_clear(&at);
		buf_span_add(&at, buf_span(&key));
		buf_char(&at, 0); /* the smallest key after it */
	}
	return r;
}

static void put(struct txn *tx, struct span key, struct span value)
{
	conflict_note_write(&tx->set, WRITE_PUT, key, value);
}

static void del(struct txn *tx, struct span key)
{
	conflict_note_write(&tx->set, WRITE_DELETE, key, (struct span){ "", 0 });
}

static void del_range(struct txn *tx, struct span from, struct span to)
{
	conflict_note_write(&tx->set, WRITE_DELETE_RANGE, from, to);
}

/* The oldest commit that an open transaction may still read at. */
static uint64_t horizon_locked(struct engine *eng) REQUIRES(eng->lock)
{
	uint64_t oldest = eng->commits;
	struct txn *tx;

	for (tx = eng->open; tx; tx = tx->next)
		oldest = MIN(oldest, tx->snapshot);
	return oldest;
}

/* Drop versions of a row that are hidden from everybody by a later one. */
static void trim_row(struct row *row, uint64_t horizon)
{
	size_t keep = 0;

	while (keep + 1 < row->count && row->versions[keep + 1].commit <= horizon)
		buf_release(&row->versions[keep++].value);
	if (!keep)
		return;
	memmove(row->versions, row->versions + keep, (row->count - keep) * sizeof *row->versions);
	row->count -= keep;
}

static int add_version(struct row *row, uint64_t commit, bool deleted, struct span value)
{
	struct version *versions = realloc(row->versions, (row->count + 1) * sizeof *row->versions);

	if (!versions)
		return -ENOMEM;
	row->versions = versions;
	versions[row->count] = (struct version){ .commit = commit, .deleted = deleted };
	buf_span_add(&versions[row->count].value, value);
	row->count++;
	return buf_check(&versions[row->count - 1].value, NULL);
}

static int insert_row_locked(struct engine *eng, size_t at, struct span key) REQUIRES(eng->lock)
{
	struct row *row;

	if (eng->count == eng->cap) {
		size_t cap = eng->cap ? eng->cap * 2 : 64;
		struct row **rows = realloc(eng->rows, cap * sizeof(struct row *));

		if (!rows)
			return -ENOMEM;
		eng->rows = rows;
		eng->cap = cap;
	}
	row = calloc(1, sizeof *row);
	if (!row)
		return -ENOMEM;
	buf_span_add(&row->key, key);
	memmove(eng->rows + at + 1, eng->rows + at, (eng->count - at) * sizeof(struct row *));
	eng->rows[at] = row;
	eng->count++;
	return buf_check(&row->key, NULL);
}

struct apply {
	struct engine *eng;
	struct txn *tx;
	uint64_t horizon;
	int failed;
};

static void write_one(void *arg, enum write_kind kind, struct span key,
		      struct span value) NO_THREAD_ANALYSIS /* apply_writes holds the lock */
{
	struct apply *a = arg;
	struct engine *eng = a->eng;
	size_t i = lower_bound_locked(eng, key);

	if (kind == WRITE_DELETE_RANGE) {
		for (; i < eng->count && a->failed == 0; i++) {
			if (span_compare(buf_span(&eng->rows[i]->key), value) >= 0)
				break;
			trim_row(eng->rows[i], a->horizon);
			a->failed = add_version(eng->rows[i], eng->commits + 1, true, SPAN(""));
		}
		return;
	}
	if (a->failed == 0 && (i == eng->count || !span_equal(buf_span(&eng->rows[i]->key), key)))
		a->failed = insert_row_locked(eng, i, key);
	if (a->failed < 0)
		return;
	trim_row(eng->rows[i], a->horizon);
	a->failed = add_version(eng->rows[i], eng->commits + 1, kind == WRITE_DELETE, value);
}

static int apply_writes(void *arg)
{
	struct apply *a = arg;
	struct engine *eng = a->eng;

	mutex_lock(&eng->lock);
	a->horizon = horizon_locked(eng);
	conflict_each_write(&a->tx->set, write_one, a);
	eng->commits++;
	mutex_unlock(&eng->lock);
	return a->failed;
}

static int commit(struct txn *tx, enum durability durability, struct err *err)
{
	struct apply a = { .eng = tx->eng, .tx = tx };
	int r = 0;

	(void)durability; /* there is no disk */
	if (tx->set.writes.len || tx->set.writes.failed)
		r = conflict_commit(&tx->eng->conflicts, &tx->set, apply_writes, &a);
	if (r == -ENOMEM)
		(void)err_nomem(err);
	end(tx);
	return r;
}

static int sync_engine(struct engine *eng, struct err *err)
{
	(void)eng;
	(void)err;
	return 0;
}

const struct engine_ops engine_memory = {
	.name = "memory",
	.forgets = true,
	.open = open_engine,
	.close = close_engine,
	.begin = begin,
	.get = get,
	.scan = scan,
	.put = put,
	.del = del,
	.del_range = del_range,
	.commit = commit,
	.abort = end,
	.sync = sync_engine,
};
