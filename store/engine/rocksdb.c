/*
 * The embedded engine: RocksDB in a directory of this machine.
 *
 * No other file includes RocksDB's header. Commits go through its write-ahead log, and conflict.c
 * finds lost races.
 */
#include "store/engine/conflict.h"
#include "store/engine/engine.h"

#include <errno.h>
#include <rocksdb/c.h>
#include <stdatomic.h>
#include <stdlib.h>

#define BLOCK_CACHE_BYTES  (24u << 20)
#define WRITE_BUFFER_BYTES (8u << 20)
#define BLOCK_BYTES        (16u << 10)
#define BLOOM_BITS         10
#define OPEN_FILES_MAX     256
#define SPARE_TXNS         8
#define SPARE_BYTES        (64u << 10) /* a transaction that wrote more is not kept */

struct engine {
	/* fixed after open */
	rocksdb_t *db;
	rocksdb_options_t *options;
	rocksdb_cache_t *cache;
	rocksdb_writeoptions_t *write;
	rocksdb_writeoptions_t *write_sync;

	struct conflict_table conflicts;

	/* Ended transactions, whose memory the next ones use. A taker leaves NULL. */
	_Atomic(struct txn *) spare[SPARE_TXNS];
};

struct txn {
	struct engine *eng;
	const rocksdb_snapshot_t *snapshot; /* taken at the first read */
	rocksdb_readoptions_t *read;
	rocksdb_writebatch_t *batch; /* empty but in commit */
	struct conflict_set set;
	enum durability durability;
	struct err *err; /* of the commit */
};

/* Set an error from RocksDB's text, and free the text. */
static int fail(struct err *err, char *text)
{
	int code = strstr(text, "No space") ? -ENOSPC : -EIO;

	(void)err_set(err, code, "the store: %.200s", text);
	rocksdb_free(text);
	return code;
}

static rocksdb_options_t *make_options(rocksdb_cache_t *cache)
{
	rocksdb_options_t *o = rocksdb_options_create();
	rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();

	rocksdb_block_based_options_set_block_cache(table, cache);
	rocksdb_block_based_options_set_block_size(table, BLOCK_BYTES);
	rocksdb_block_based_options_set_format_version(table, 5);
	rocksdb_block_based_options_set_filter_policy(
		table, rocksdb_filterpolicy_create_bloom_full(BLOOM_BITS));
	rocksdb_options_set_block_based_table_factory(o, table);
	rocksdb_block_based_options_destroy(table);

	rocksdb_options_set_create_if_missing(o, 1);
	rocksdb_options_set_write_buffer_size(o, WRITE_BUFFER_BYTES);
	rocksdb_options_set_max_write_buffer_number(o, 3);
	rocksdb_options_set_max_open_files(o, OPEN_FILES_MAX);
	rocksdb_options_set_max_background_jobs(o, 2);
	rocksdb_options_set_level_compaction_dynamic_level_bytes(o, 1);
	rocksdb_options_set_compression(o, rocksdb_no_compression);
	rocksdb_options_set_keep_log_file_num(o, 2);
	rocksdb_options_set_max_log_file_size(o, 1u << 20);
	rocksdb_options_set_max_total_wal_size(o, 64u << 20);
	return o;
}

static void free_txn(struct txn *tx)
{
	if (tx->read)
		rocksdb_readoptions_destroy(tx->read);
	if (tx->batch)
		rocksdb_writebatch_destroy(tx->batch);
	conflict_release(&tx->set);
	free(tx);
}

static void close_engine(struct engine *eng)
{
	size_t i;

	for (i = 0; i < SPARE_TXNS; i++) {
		if (eng->spare[i])
			free_txn(eng->spare[i]);
	}
	if (eng->db)
		rocksdb_close(eng->db);
	rocksdb_options_destroy(eng->options);
	rocksdb_cache_destroy(eng->cache);
	rocksdb_writeoptions_destroy(eng->write);
	rocksdb_writeoptions_destroy(eng->write_sync);
	conflict_table_release(&eng->conflicts);
	free(eng);
}

static int open_engine(const char *where, struct engine **out, struct err *err)
{
	struct engine *eng = calloc(1, sizeof *eng);
	char *text = NULL;

	if (!eng)
		return err_nomem(err);
	conflict_table_init(&eng->conflicts);
	eng->cache = rocksdb_cache_create_lru(BLOCK_CACHE_BYTES);
	eng->options = make_options(eng->cache);
	eng->write = rocksdb_writeoptions_create();
	eng->write_sync = rocksdb_writeoptions_create();
	rocksdb_writeoptions_set_sync(eng->write_sync, 1);
	eng->db = rocksdb_open(eng->options, where, &text);
	if (!eng->db) {
		close_engine(eng);
		return fail(err, text);
	}
	*out = eng;
	return 0;
}

/* Stop RocksDB's counters, which cost more than some operations. */
static void stop_counting(void)
{
	static _Thread_local bool stopped;

	if (!stopped)
		rocksdb_set_perf_level(rocksdb_disable);
	stopped = true;
}

static struct txn *take_spare(struct engine *eng)
{
	struct txn *tx = NULL;
	size_t i;

	for (i = 0; !tx && i < SPARE_TXNS; i++) {
		if (atomic_load_explicit(&eng->spare[i], memory_order_relaxed))
			tx = atomic_exchange(&eng->spare[i], NULL);
	}
	return tx;
}

static bool keep_spare(struct engine *eng, struct txn *tx)
{
	size_t i;

	if (tx->set.writes.cap > SPARE_BYTES || tx->set.stripes.cap > SPARE_BYTES)
		return false;
	for (i = 0; i < SPARE_TXNS; i++) {
		struct txn *none = NULL;

		if (atomic_compare_exchange_strong(&eng->spare[i], &none, tx))
			return true;
	}
	return false;
}

static int begin(struct engine *eng, struct txn **out)
{
	struct txn *tx = take_spare(eng);

	stop_counting();
	if (!tx)
		tx = calloc(1, sizeof *tx);
	if (!tx)
		return -ENOMEM;
	tx->eng = eng;
	*out = tx;
	return 0;
}

static void end(struct txn *tx)
{
	if (tx->snapshot)
		rocksdb_release_snapshot(tx->eng->db, tx->snapshot);
	tx->snapshot = NULL;
	conflict_clear(&tx->set);
	if (!keep_spare(tx->eng, tx))
		free_txn(tx);
}

static void need_snapshot(struct txn *tx)
{
	if (tx->snapshot)
		return;
	conflict_begin(&tx->eng->conflicts, &tx->set);
	tx->snapshot = rocksdb_create_snapshot(tx->eng->db);
	if (!tx->read)
		tx->read = rocksdb_readoptions_create();
	rocksdb_readoptions_set_snapshot(tx->read, tx->snapshot);
}

static int get(struct txn *tx, struct span key, struct buf *value)
{
	rocksdb_pinnableslice_t *slice;
	char *text = NULL;
	struct span found;
	int own = conflict_own(&tx->set, key, &found);

	if (own < 0)
		return own;
	if (own) {
		buf_span_add(value, found);
		return buf_check(value, NULL);
	}
	need_snapshot(tx);
	conflict_note_read(&tx->set, key);
	slice = rocksdb_get_pinned(tx->eng->db, tx->read, key.data, key.len, &text);
	if (text)
		return fail(NULL, text);
	if (!slice)
		return -ENOENT;
	found.data = rocksdb_pinnableslice_value(slice, &found.len);
	buf_span_add(value, found);
	rocksdb_pinnableslice_destroy(slice);
	return buf_check(value, NULL);
}

static int scan(struct txn *tx, struct span from, struct span to, pair_fn *fn, void *arg)
{
	rocksdb_readoptions_t *read = rocksdb_readoptions_create();
	rocksdb_iterator_t *it;
	char *text = NULL;
	int r = 0;

	need_snapshot(tx);
	rocksdb_readoptions_set_snapshot(read, tx->snapshot);
	rocksdb_readoptions_set_iterate_upper_bound(read, to.data, to.len);
	it = rocksdb_create_iterator(tx->eng->db, read);
	for (rocksdb_iter_seek(it, from.data, from.len); r == 0 && rocksdb_iter_valid(it);
	     rocksdb_iter_next(it)) {
		struct span key;
		struct span value;

		key.data = rocksdb_iter_key(it, &key.len);
		value.data = rocksdb_iter_value(it, &value.len);
		r = fn(arg, key, value);
	}
	if (r == 0)
		rocksdb_iter_get_error(it, &text);
	rocksdb_iter_destroy(it);
	rocksdb_readoptions_destroy(read);
	return text ? fail(NULL, text) : r;
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

static void add_to_batch(void *arg, enum write_kind kind, struct span key, struct span value)
{
	rocksdb_writebatch_t *batch = arg;

	if (kind == WRITE_PUT)
		rocksdb_writebatch_put(batch, key.data, key.len, value.data, value.len);
	else if (kind == WRITE_DELETE)
		rocksdb_writebatch_delete(batch, key.data, key.len);
	else
		rocksdb_writebatch_delete_range(batch, key.data, key.len, value.data, value.len);
}

static int apply(void *arg)
{
	struct txn *tx = arg;
	char *text = NULL;

	if (!tx->batch)
		tx->batch = rocksdb_writebatch_create();
	conflict_each_write(&tx->set, add_to_batch, tx->batch);
	rocksdb_write(tx->eng->db,
		      tx->durability == DURABILITY_DISK ? tx->eng->write_sync : tx->eng->write,
		      tx->batch, &text);
	rocksdb_writebatch_clear(tx->batch);
	return text ? fail(tx->err, text) : 0;
}

static int commit(struct txn *tx, enum durability durability, struct err *err)
{
	int r = 0;

	tx->durability = durability;
	tx->err = err;
	if (tx->set.writes.len || tx->set.writes.failed)
		r = conflict_commit(&tx->eng->conflicts, &tx->set, apply, tx);
	end(tx);
	return r;
}

static int sync_engine(struct engine *eng, struct err *err)
{
	char *text = NULL;

	rocksdb_flush_wal(eng->db, 1, &text);
	return text ? fail(err, text) : 0;
}

const struct engine_ops engine_rocksdb = {
	.name = "rocksdb",
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
