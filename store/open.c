/*
 * Opening and closing a store: see open.h.
 *
 * The process that uses the store locks FOLDER/lock. The engine has FOLDER/<engine>, and
 * FOLDER/bulk has the bulks. An open store has two threads: the janitor folds logs and drops the
 * rows of removed scopes, and the other one makes and removes the index of long sessions.
 */
#include "store/open.h"

#include "store/artifact/bulk.h"
#include "store/engine/engines.h"
#include "store/format.h"
#include "store/memory/memory.h"
#include "store/session/log.h"
#include "store/timeline/loose.h"
#include "store/tx/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDS_WAITING 64
#define ONLY_NODE     1         /* the daemon of an embedded store */
#define LARGE_VALUE   (4 << 20) /* values of this size come from the heap, not from mmap */

/* The thread that folds logs and drops loose rows. */
struct janitor {
	pthread_t thread;
	bool runs;

	struct mutex lock;
	struct cond wake;
	struct ref folds[FOLDS_WAITING] GUARDED_BY(lock); /* sessions with a long log */
	size_t fold_count GUARDED_BY(lock);
	bool drops GUARDED_BY(lock); /* there may be loose rows */
	bool stopping GUARDED_BY(lock);
};

struct open_store {
	struct store store; /* first: the part that other modules see */
	int lock_fd;
	struct bulk_pins pins;
	struct memory_worker memory;
	struct janitor janitor;
};

static void ask_fold_locked(struct janitor *j, struct ref session) REQUIRES(j->lock)
{
	size_t i;

	for (i = 0; i < j->fold_count && j->folds[i].session != session.session; i++)
		;
	if (i == j->fold_count && i < FOLDS_WAITING) /* if the list is full: at a later append */
		j->folds[j->fold_count++] = session;
}

static void notice_change(void *arg, const struct change *change)
{
	struct janitor *j = &((struct open_store *)arg)->janitor;

	if (!change->folds)
		return;
	mutex_lock(&j->lock);
	ask_fold_locked(j, change->ref);
	mutex_unlock(&j->lock);
	cond_wake_one(&j->wake);
}

void store_drop_soon(struct store *st)
{
	struct janitor *j = &((struct open_store *)st)->janitor;

	mutex_lock(&j->lock);
	j->drops = true;
	mutex_unlock(&j->lock);
	cond_wake_one(&j->wake);
}

struct chore {
	struct ref fold; /* session 0: none */
	bool drop;
};

static bool next_chore(struct janitor *j, struct chore *out)
{
	bool found;

	*out = (struct chore){ 0 };
	mutex_lock(&j->lock);
	while (!j->fold_count && !j->drops && !j->stopping)
		cond_wait(&j->wake, &j->lock);
	found = !j->stopping;
	if (found && j->fold_count)
		out->fold = j->folds[--j->fold_count];
	if (found) {
		out->drop = j->drops;
		j->drops = false;
	}
	mutex_unlock(&j->lock);
	return found;
}

static void *janitor_run(void *arg)
{
	struct open_store *os = arg;
	struct chore chore;

	/* Nothing is lost by a failure: the next append or the next start asks again. */
	while (next_chore(&os->janitor, &chore)) {
		if (chore.fold.session)
			(void)!session_fold(&os->store, chore.fold, NULL);
		if (chore.drop)
			(void)!loose_drop_all(&os->store, NULL);
	}
	return NULL;
}

static int janitor_start(struct open_store *os, struct err *err)
{
	struct janitor *j = &os->janitor;
	int r = -pthread_create(&j->thread, NULL, janitor_run, os);

	j->runs = r == 0;
	return r < 0 ? err_errno(err, r, "the thread that folds logs cannot start") : 0;
}

static void janitor_stop(struct janitor *j)
{
	if (!j->runs)
		return;
	mutex_lock(&j->lock);
	j->stopping = true;
	mutex_unlock(&j->lock);
	cond_wake_all(&j->wake);
	(void)pthread_join(j->thread, NULL);
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

static int start(struct open_store *os, struct err *err)
{
	struct store *st = &os->store;
	int r = make_folder(st->folder, err);

	if (r == 0)
		r = lock_folder(os, err);
	if (r == 0)
		r = open_engine(st, err);
	if (r == 0)
		r = format_settle(st, err);
	if (r == 0 && st->ops->forgets)
		bulk_clear(st);
	if (r == 0)
		r = bulk_recover(st, err);
	if (r == 0)
		r = loose_recover(st, err);
	if (r == 0)
		r = janitor_start(os, err);
	if (r == 0)
		store_drop_soon(st);
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
	mutex_init(&os->janitor.lock);
	cond_init(&os->janitor.wake);
	writers_init(&st->writers);
	mutex_init(&st->numbers_lock);
	st->ops = engine_find(options->engine ? options->engine : "rocksdb");
	st->durability = options->durability;
	st->node = ONLY_NODE;
	st->say = options->say;
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
	janitor_stop(&os->janitor);
	if (st->eng) {
		if (st->ops->forgets)
			bulk_clear(st);
		st->ops->close(st->eng);
	}
	if (os->lock_fd >= 0)
		(void)close(os->lock_fd);
	cond_release(&os->janitor.wake);
	mutex_release(&os->janitor.lock);
	mutex_release(&os->pins.lock);
	memory_release(&os->memory);
	mutex_release(&st->numbers_lock);
	writers_release(&st->writers);
	free(st->folder);
	free(os);
}
