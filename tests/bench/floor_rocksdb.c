/*
 * The floor of the store: RocksDB alone, with the options it comes with.
 *
 *	floor_rocksdb put DIR [ROWS]	rate of batches of 4 rows of 300 bytes, WAL unsynced
 *	floor_rocksdb fill DIR [ROWS]	a store for `open`
 *	floor_rocksdb open DIR READY	open it, make the file READY, wait for SIGTERM
 *
 * How long `open` takes and what it holds in memory is measured from outside,
 * by bench_start, as it is for adkfs.
 */
#include "base/cc.h"
#include "tests/bench/measure.h"
#include "tests/bench/tree.h"

#include <fcntl.h>
#include <rocksdb/c.h>
#include <signal.h>
#include <unistd.h>

enum {
	ROW_SIZE = 300,
	BATCH = 4,
	KEY_SIZE = 32,
	ROWS = 1000000,
};

static int failed(char *error)
{
	if (!error)
		return 0;
	fprintf(stderr, "floor_rocksdb: %s\n", error);
	rocksdb_free(error);
	return 1;
}

static rocksdb_t *store_open(const char *dir)
{
	rocksdb_options_t *options = rocksdb_options_create();
	char *error = NULL;
	rocksdb_t *db;

	rocksdb_options_set_create_if_missing(options, 1);
	db = rocksdb_open(options, dir, &error);
	rocksdb_options_destroy(options);
	if (failed(error))
		exit(1);
	return db;
}

static void batch_put(rocksdb_writebatch_t *batch, unsigned row)
{
	char key[KEY_SIZE], value[EVENT_MAX];
	int len = snprintf(key, sizeof(key), "session/%012u", row);

	memset(value, ' ', sizeof(value));
	tree_event(value, row);
	rocksdb_writebatch_put(batch, key, (size_t)len, value, ROW_SIZE);
}

/* Writes the rows, a batch at a time. */
static int rows_write(rocksdb_t *db, unsigned rows)
{
	rocksdb_writeoptions_t *options = rocksdb_writeoptions_create();
	rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
	char *error = NULL;
	int r = 0;

	for (unsigned row = 0; row < rows && !r; row += BATCH) {
		rocksdb_writebatch_clear(batch);
		for (unsigned i = 0; i < BATCH; i++)
			batch_put(batch, row + i);
		rocksdb_write(db, options, batch, &error);
		r = failed(error);
	}
	rocksdb_writebatch_destroy(batch);
	rocksdb_writeoptions_destroy(options);
	return r;
}

static int put_run(const char *dir, const char *rows)
{
	unsigned count = rows ? (unsigned)strtoul(rows, NULL, 10) : ROWS;
	rocksdb_t *db = store_open(dir);
	double start = seconds_now(), took;
	int r;

	r = rows_write(db, count);
	took = seconds_now() - start;
	rocksdb_close(db);
	if (r == 0)
		printf("RocksDB alone, %d rows of %d bytes a batch, WAL not synced: %.1f k/s "
		       "batches\n",
		       BATCH, ROW_SIZE, count / BATCH / took / 1e3);
	return r;
}

/* Flushed, so that opening replays no log. */
static int fill_run(const char *dir, const char *rows)
{
	unsigned count = rows ? (unsigned)strtoul(rows, NULL, 10) : ROWS;
	rocksdb_flushoptions_t *options = rocksdb_flushoptions_create();
	rocksdb_t *db = store_open(dir);
	char *error = NULL;
	int r;

	r = rows_write(db, count);
	rocksdb_flush(db, options, &error);
	r |= failed(error);
	rocksdb_compact_range(db, NULL, 0, NULL, 0);
	rocksdb_flushoptions_destroy(options);
	rocksdb_close(db);
	return r;
}

static int open_run(const char *dir, const char *ready)
{
	rocksdb_t *db;
	sigset_t set;
	int fd, sig;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (!ready)
		return 2;
	db = store_open(dir);
	fd = open(ready, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0)
		return 1;
	close(fd);
	sigwait(&set, &sig);
	unlink(ready);
	rocksdb_close(db);
	return 0;
}

static const struct command {
	const char *name;
	int (*run)(const char *dir, const char *argument);
} commands[] = {
	{ "put", put_run },
	{ "fill", fill_run },
	{ "open", open_run },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc >= 3 && i < ARRAY_SIZE(commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argv[2], argv[3]);
	fprintf(stderr, "usage: floor_rocksdb put|fill DIR [ROWS]\n"
			"       floor_rocksdb open DIR READY\n");
	return 2;
}
