/*
 * Opening and closing a store: see open.h.
 *
 * The process that uses the store locks FOLDER/lock. The engine has FOLDER/<engine>, and
 * FOLDER/bulk has the bulks. An open store has two threads: one folds logs, and one makes and
 * removes the index of long sessions.
 */
#include "store/open.h"

#include "store/artifact/bulk.h"
#include "store/engine/engines.h"
#include "store/memory/memory.h"
#include "store/session/log.h"
#include "store/timeline/fork.h"
#include "store/tx/inside.h"
#include "store/tx/key.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDS_WAITING 64
#define LARGE_VALUE   (4 << 20) /* values of this size come from the heap, not from mmap */

/* Sessions with logs to fold, and the thread that folds them. */
struct folding {
	pthread_t thread;
	bool runs;

	struct mutex lock;
	struct cond wake;
	struct ref waiting[FOLDS_WAITING] GUARDED_BY(lock);
	size_t count GUARDED_BY(lock);
	bool stopping GUARDED_BY(lock);
};

struct open_store {
	struct store store; /* first: the part that other modules see */
	int lock_fd;
	struct bulk_pins pins;
	struct memory_worker memory;
	struct folding folding;
};

/* Ask for the folding of a long log. If the list is full, the next append asks again. */
static void notice_change(void *arg, const struct change *change)
{
	struct folding *f = &((struct open_store *)arg)->folding;
	size_t i;

	if (change->unfolded <= LOG_FOLD_BYTES)
		return;
	mutex_lock(&f->lock);
	for (i = 0; i < f->count && f->waiting[i].session != change->ref.session; i++)
		;
	if (i == f->count && i < FOLDS_WAITING)
		f->waiting[f->count++] = change->ref;
	mutex_unlock(&f->lock);
	cond_wake_one(&f->wake);
}

static bool next_fold(struct folding *f, struct ref *session)
{
	bool found;

	mutex_lock(&f->lock);
	while (!f->count && !f->stopping)
		cond_wait(&f->wake, &f->lock);
	found = !f->stopping;
	if (found)
		*session = f->waiting[--f->count];
	mutex_unlock(&f->lock);
	return found;
}

static void *fold_logs(void *arg)
{
	struct open_store *os = arg;
	struct ref session;

	/* After a failure nothing is lost, and the next append asks again. */
	while (next_fold(&os->folding, &session))
		(void)!session_fold(&os->store, session, NULL);
	return NULL;
}

static int start_folding(struct open_store *os, struct err *err)
{
	int r = -pthread_create(&os->folding.thread, NULL, fold_logs, os);

	os->folding.runs = r == 0;
	return r < 0 ? err_errno(err, r, "the thread that folds logs cannot start") : 0;
}

static void stop_folding(struct folding *f)
{
	if (!f->runs)
		return;
	mutex_lock(&f->lock);
	f->stopping = true;
	mutex_unlock(&f->lock);
	cond_wake_all(&f->wake);
	(void)pthread_join(f->thread, NULL);
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

/* Lock the store for this process. The lock ends with the process, however it ends. */
static int lock_folder(struct open_store *os, struct err *err)
{
	const char *folder = os->store.folder;
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char path[PATH_MAX];

	if (snprintf(path, sizeof path, "%s/lock", folder) >= (int)sizeof path)
		return err_set(err, -ENAMETOOLONG, "store %s: the path is too long", folder);
	os->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (os->lock_fd < 0)
		return err_errno(err, -errno, "%s", path);
	if (fcntl(os->lock_fd, F_SETLK, &lock) == 0)
		return 0;
	lock.l_type = F_WRLCK;
	if (fcntl(os->lock_fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK)
		return err_set(err, -EBUSY, "store %s is in use by process %ld", folder,
			       (long)lock.l_pid);
	return err_set(err, -EBUSY, "store %s is in use by another process", folder);
}

static int open_engine(struct store *st, struct err *err)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof path, "%s/%s", st->folder, st->ops->name) >= (int)sizeof path)
		return err_set(err, -ENAMETOOLONG, "store %s: the path is too long", st->folder);
	return st->ops->open(path, &st->eng, err);
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

static int start(struct open_store *os, struct err *err)
{
	struct store *st = &os->store;
	int r = make_folder(st->folder, err);

	if (r == 0)
		r = lock_folder(os, err);
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
	if (r == 0)
		r = start_folding(os, err);
	return r == 0 ? memory_start(st, err) : r;
}

static struct open_store *open_store_new(const struct store_options *options)
{
	struct open_store *os = calloc(1, sizeof *os);
	struct store *st = &os->store;

	if (!os)
		return NULL;
	os->lock_fd = -1;
	mutex_init(&os->pins.lock);
	memory_init(&os->memory);
	mutex_init(&os->folding.lock);
	cond_init(&os->folding.wake);
	writers_init(&st->writers);
	mutex_init(&st->numbers_lock);
	st->ops = engine_find(options->engine ? options->engine : "rocksdb");
	st->durability = options->durability;
	st->folder = strdup(options->folder);
	st->pins = &os->pins;
	st->memory = &os->memory;
	st->notice = notice_change;
	return os;
}

int store_open(const struct store_options *options, struct store **out, struct err *err)
{
	struct open_store *os = open_store_new(options);
	int r;

	if (!os)
		return err_nomem(err);
	(void)mallopt(M_MMAP_THRESHOLD, LARGE_VALUE); /* mapping each large value is slow */
	(void)mallopt(M_TRIM_THRESHOLD, 4 * LARGE_VALUE);
	if (!os->store.ops)
		r = err_set(err, -EINVAL, "there is no engine '%s'", options->engine);
	else
		r = os->store.folder ? start(os, err) : err_nomem(err);
	if (r < 0) {
		store_close(&os->store);
		return r;
	}
	*out = &os->store;
	return 0;
}

void store_close(struct store *st)
{
	struct open_store *os = (struct open_store *)st;

	if (!st)
		return;
	memory_stop(st);
	stop_folding(&os->folding);
	if (st->eng) {
		if (st->ops->forgets)
			bulk_clear(st);
		st->ops->close(st->eng);
	}
	if (os->lock_fd >= 0)
		(void)close(os->lock_fd);
	cond_release(&os->folding.wake);
	mutex_release(&os->folding.lock);
	mutex_release(&os->pins.lock);
	memory_release(&os->memory);
	mutex_release(&st->numbers_lock);
	writers_release(&st->writers);
	free(st->folder);
	free(os);
}
