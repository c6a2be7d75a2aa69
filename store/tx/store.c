/*
 * The store: see store.h.
 */
#include "store/tx/store.h"

#include "base/clock.h"
#include "base/mutex.h"
#include "store/artifact/bulk.h"
#include "store/memory/memory.h"
#include "store/session/session.h"
#include "store/timeline/fork.h"
#include "store/tx/key.h"
#include "store/tx/writers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define NUMBERS_AT_ONCE 1024
#define NUMBERS_MOST    (1u << 20)
#define NUMBERS_SOON_NS (100 * (uint64_t)NSEC_PER_MSEC)
#define TRIES_BESIDE    8 /* a transaction that lost so many races runs alone */
#define TRIES_NS        (60 * (uint64_t)NSEC_PER_SEC) /* for engines that others write to as well */
#define FOLDS_WAITING   64
#define LARGE_VALUE     (4 << 20) /* values of this size come from the heap, not from mmap */

struct store {
	/* fixed after open */
	const struct engine_ops *ops;
	struct engine *eng;
	enum durability durability;
	char *folder;
	int lock_fd;
	watch_fn *watch;
	void *watch_arg;
	pthread_t folder_thread;
	bool folder_runs;

	struct bulk_pins pins;
	struct memory_worker memory;
	struct writers writers;

	struct mutex numbers_lock;
	uint64_t next_number GUARDED_BY(numbers_lock);
	uint64_t end_number GUARDED_BY(numbers_lock);
	uint64_t numbers_at GUARDED_BY(numbers_lock);   /* when some were taken last */
	uint64_t numbers_size GUARDED_BY(numbers_lock); /* how many */

	struct mutex fold_lock;
	struct cond fold_wake;
	struct ref folds[FOLDS_WAITING] GUARDED_BY(fold_lock);
	size_t fold_count GUARDED_BY(fold_lock);
	bool stopping GUARDED_BY(fold_lock);
};

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

struct change *store_changed(struct store_tx *tx, enum change_kind kind, struct ref ref)
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
	if (change->unfolded > LOG_FOLD_BYTES)
		store_fold_later(st, change->ref);
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
	struct key next;
	int r = store_get(tx, &key, &value);

	if (r < 0 && r != -ENOENT)
		return r;
	numbers->first = r == 0 ? key_last_number(buf_span(&value)) : KEY_FIRST;
	next = key_1(KEY_META_COUNTER, numbers->first + numbers->count);
	store_put(tx, &key, span_sub(key_span(&next), 1, next.len));
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

/* How many to take: more each time when they go fast. */
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
 * Take numbers from the store: outside of the order of writers, since transactions that
 * run take some too. The counter is all that is written, so nobody else loses for long.
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
 * After a lost race: what the next try finds. It gets as many numbers as this one used,
 * so that it need not write to the counter, which would make a large one lose each time.
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

void store_fold_later(struct store *st, struct ref session)
{
	size_t i;

	mutex_lock(&st->fold_lock);
	for (i = 0; i < st->fold_count && st->folds[i].session != session.session; i++)
		;
	if (i == st->fold_count && i < FOLDS_WAITING)
		st->folds[st->fold_count++] = session; /* a full list: the next append asks again */
	mutex_unlock(&st->fold_lock);
	cond_wake_one(&st->fold_wake);
}

static bool next_fold(struct store *st, struct ref *session)
{
	bool found;

	mutex_lock(&st->fold_lock);
	while (!st->fold_count && !st->stopping)
		cond_wait(&st->fold_wake, &st->fold_lock);
	found = !st->stopping;
	if (found)
		*session = st->folds[--st->fold_count];
	mutex_unlock(&st->fold_lock);
	return found;
}

static void *fold_logs(void *arg)
{
	struct store *st = arg;
	struct ref session;

	/* A fold that fails is tried again after the next append: nothing is lost by it. */
	while (next_fold(st, &session))
		(void)!session_fold(st, session, NULL);
	return NULL;
}

/* One process a store. The lock goes with the process, however it ends. */
static int lock_folder(struct store *st, struct err *err)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char path[PATH_MAX];

	if (snprintf(path, sizeof path, "%s/lock", st->folder) >= (int)sizeof path)
		return err_set(err, -ENAMETOOLONG, "store %s: the path is too long", st->folder);
	st->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (st->lock_fd < 0)
		return err_errno(err, -errno, "%s", path);
	if (fcntl(st->lock_fd, F_SETLK, &lock) == 0)
		return 0;
	lock.l_type = F_WRLCK;
	if (fcntl(st->lock_fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK)
		return err_set(err, -EBUSY, "store %s is in use by process %ld", st->folder,
			       (long)lock.l_pid);
	return err_set(err, -EBUSY, "store %s is in use by another process", st->folder);
}

static int check_format(struct store_tx *tx, void *arg)
{
	CLEANUP(buf_release) struct buf value = { 0 };
	struct key key = key_space(KEY_META_FORMAT);
	int r = store_get(tx, &key, &value);

	(void)arg;
	if (r == -ENOENT) {
		store_put(tx, &key, SPAN(KEY_FORMAT));
		return 0;
	}
	if (r < 0)
		return r;
	if (!span_is(buf_span(&value), KEY_FORMAT))
		return err_set(tx->err, -EINVAL,
			       "store %s has the format '%.*s'; this adkfs reads '%s'",
			       tx->st->folder, (int)MIN(value.len, 40), value.data, KEY_FORMAT);
	return 0;
}

static int make_folder(const char *path, struct err *err)
{
	CLEANUP(buf_release) struct buf part = { 0 };
	const char *slash = path;

	/* mkdir -p: every prefix that ends at a slash, then the whole. */
	while (slash) {
		slash = strchr(slash + 1, '/');
		buf_clear(&part);
		buf_add(&part, path, slash ? (size_t)(slash - path) : strlen(path));
		if (!buf_cstr(&part))
			return err_nomem(err);
		if (mkdir(part.data, 0700) < 0 && errno != EEXIST)
			return err_errno(err, -errno, "store %s", part.data);
	}
	return 0;
}

static int open_engine(struct store *st, struct err *err)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof path, "%s/%s", st->folder, st->ops->name) >= (int)sizeof path)
		return err_set(err, -ENAMETOOLONG, "store %s: the path is too long", st->folder);
	return st->ops->open(path, &st->eng, err);
}

static int start(struct store *st, struct err *err)
{
	int r = make_folder(st->folder, err);

	if (r == 0)
		r = lock_folder(st, err);
	if (r == 0)
		r = open_engine(st, err);
	if (r == 0)
		r = store_update(st, check_format, NULL, err);
	if (r == 0 && st->ops->forgets)
		bulk_clear(st);
	if (r == 0)
		r = bulk_recover(st, err);
	if (r == 0)
		r = fork_recover(st, err);
	if (r < 0)
		return r;
	r = -pthread_create(&st->folder_thread, NULL, fold_logs, st);
	if (r < 0)
		return err_errno(err, r, "thread");
	st->folder_runs = true;
	return memory_start(st, err);
}

int store_open(const struct store_options *options, struct store **out, struct err *err)
{
	struct store *st = calloc(1, sizeof *st);
	int r;

	if (!st)
		return err_nomem(err);
	(void)mallopt(M_MMAP_THRESHOLD, LARGE_VALUE); /* mapping each large value is slow */
	(void)mallopt(M_TRIM_THRESHOLD, 4 * LARGE_VALUE);
	st->lock_fd = -1;
	st->durability = options->durability;
	st->ops = engine_find(options->engine ? options->engine : "rocksdb");
	st->folder = strdup(options->folder);
	mutex_init(&st->pins.lock);
	memory_init(&st->memory);
	writers_init(&st->writers);
	mutex_init(&st->numbers_lock);
	mutex_init(&st->fold_lock);
	cond_init(&st->fold_wake);
	if (!st->ops)
		r = err_set(err, -EINVAL, "there is no engine '%s'", options->engine);
	else
		r = st->folder ? start(st, err) : err_nomem(err);
	if (r < 0) {
		store_close(st);
		return r;
	}
	*out = st;
	return 0;
}

void store_close(struct store *st)
{
	if (!st)
		return;
	memory_stop(st);
	if (st->folder_runs) {
		mutex_lock(&st->fold_lock);
		st->stopping = true;
		mutex_unlock(&st->fold_lock);
		cond_wake_all(&st->fold_wake);
		(void)pthread_join(st->folder_thread, NULL);
	}
	if (st->eng) {
		if (st->ops->forgets)
			bulk_clear(st);
		st->ops->close(st->eng);
	}
	if (st->lock_fd >= 0)
		(void)close(st->lock_fd);
	cond_release(&st->fold_wake);
	mutex_release(&st->fold_lock);
	mutex_release(&st->numbers_lock);
	mutex_release(&st->pins.lock);
	memory_release(&st->memory);
	writers_release(&st->writers);
	free(st->folder);
	free(st);
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
	return &st->memory;
}

struct bulk_pins *store_pins(struct store *st)
{
	return &st->pins;
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
