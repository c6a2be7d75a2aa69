/*
 * The settings file: see file.h.
 */
#include "runner/settings/file.h"

#include "base/mutex.h"
#include "base/net/secrets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct app_values {
	char *name;
	struct values values;
};

struct settings_file {
	atomic_uint refs;
	struct values providers;
	struct app_values *apps;
	size_t app_count;
};

/* A state of the file; all zero: the file is not there. */
struct state {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec changed; /* a new owner or mode counts too */
	struct timespec written;
};

static struct {
	char *path;               /* fixed before threads */
	settings_parse_fn *parse; /* fixed before threads */

	struct mutex lock; /* no lock is taken under it; the file is read */
	struct settings_file *now GUARDED_BY(lock);
	struct state seen GUARDED_BY(lock);
	struct err reason GUARDED_BY(lock); /* code 0: none */
} chosen = { .lock = MUTEX_INIT };

/* The contents of a file */

void settings_file_unref(struct settings_file *file)
{
	size_t i;

	if (!file || atomic_fetch_sub(&file->refs, 1) > 1)
		return;
	for (i = 0; i < file->app_count; i++) {
		free(file->apps[i].name);
		values_release(&file->apps[i].values);
	}
	free(file->apps);
	values_release(&file->providers);
	free(file);
}

static const struct app_values *find_app(const struct settings_file *file, const char *name)
{
	size_t i;

	for (i = 0; i < file->app_count; i++) {
		if (!strcmp(file->apps[i].name, name))
			return &file->apps[i];
	}
	return NULL;
}

const char *settings_file_get(const struct settings_file *file, const char *app, const char *name)
{
	const struct app_values *section = app ? find_app(file, app) : NULL;

	if (!app)
		return values_get(&file->providers, name);
	return section ? values_get(&section->values, name) : NULL;
}

int settings_file_each_app(const struct settings_file *file, values_fn *fn, void *arg)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < file->app_count; i++)
		r = fn(arg, file->apps[i].name);
	return r;
}

int settings_file_add(struct settings_file *file, const char *name, struct values **out)
{
	struct app_values *apps = reallocarray(file->apps, file->app_count + 1, sizeof *file->apps);
	char *copy = apps ? strdup(name) : NULL;

	if (apps)
		file->apps = apps;
	if (!copy)
		return -ENOMEM;
	apps[file->app_count] = (struct app_values){ .name = copy };
	*out = &apps[file->app_count++].values;
	return 0;
}

struct values *settings_file_providers(struct settings_file *file)
{
	return &file->providers;
}

/* The file holds secrets: only its owner may write and read it. */
static int check_owner(const struct stat *st, const char *path, struct err *err)
{
	if (!S_ISREG(st->st_mode))
		return err_set(err, -EINVAL, "%s is not a regular file", path);
	if (st->st_uid != geteuid())
		return err_set(err, -EPERM, "%s belongs to another user", path);
	if (st->st_mode & 077)
		return err_set(err, -EPERM, "%s can be read by others: chmod 600 it", path);
	return 0;
}

static int read_fd(int fd, const struct stat *st, const char *path, struct settings_file **out,
		   struct err *err)
{
	CLEANUP(secret_wipe) struct buf text = { 0 };
	CLEANUP(settings_file_unref_p) struct settings_file *file = NULL;
	int r = check_owner(st, path, err);

	if (r == 0)
		r = values_read(fd, path, SETTINGS_FILE_MAX, &text, err);
	if (r < 0)
		return r;
	file = calloc(1, sizeof *file);
	if (!file)
		return err_nomem(err);
	atomic_init(&file->refs, 1);
	r = chosen.parse(buf_span(&text), path, file, err);
	if (r < 0)
		return r;
	*out = STEAL(&file);
	return 0;
}

/* Changes of the file */

static struct state state_of(const struct stat *st)
{
	return (struct state){ st->st_dev, st->st_ino, st->st_size, st->st_ctim, st->st_mtim };
}

static bool time_is(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool state_is(const struct state *a, const struct state *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       time_is(a->changed, b->changed) && time_is(a->written, b->written);
}

static void replace_locked(struct settings_file *file) REQUIRES(chosen.lock);
static void replace_locked(struct settings_file *file)
{
	settings_file_unref(chosen.now);
	chosen.now = file;
}

/* Read the file again. */
static int read_locked(int fd, const struct stat *st) REQUIRES(chosen.lock);
static int read_locked(int fd, const struct stat *st)
{
	struct settings_file *file = NULL;
	int r = read_fd(fd, st, chosen.path, &file, &chosen.reason);

	chosen.seen = state_of(st);
	if (r < 0)
		return r;
	replace_locked(file);
	chosen.reason = (struct err){ 0 };
	return 0;
}

static int look_locked(void) REQUIRES(chosen.lock);
static int look_locked(void)
{
	int fd = open(chosen.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	struct state state;
	int r = fd < 0 || fstat(fd, &st) < 0 ? -errno : 0;

	if (r == 0) {
		state = state_of(&st);
		if (!state_is(&state, &chosen.seen))
			r = read_locked(fd, &st);
		else
			r = chosen.reason.code;
	} else {
		chosen.seen = (struct state){ 0 };
		if (r == -ENOENT)
			replace_locked(NULL);
		(void)err_errno(&chosen.reason, r, "%s", chosen.path);
	}
	if (fd >= 0)
		(void)close(fd);
	return r;
}

/* The process */

int settings_file_open(const char *path, settings_parse_fn *parse, struct err *err)
{
	int r;

	chosen.parse = parse;
	chosen.path = strdup(path);
	if (!chosen.path)
		return err_nomem(err);
	mutex_lock(&chosen.lock);
	r = look_locked();
	if (r < 0 && err)
		*err = chosen.reason;
	mutex_unlock(&chosen.lock);
	return r;
}

void settings_file_close(void)
{
	mutex_lock(&chosen.lock);
	replace_locked(NULL);
	chosen.seen = (struct state){ 0 };
	chosen.reason = (struct err){ 0 };
	mutex_unlock(&chosen.lock);
	free(chosen.path);
	chosen.path = NULL;
}

const char *settings_file_where(void)
{
	return chosen.path;
}

int settings_file_reason(struct err *err)
{
	int r;

	if (!chosen.path)
		return 0;
	mutex_lock(&chosen.lock);
	(void)look_locked();
	r = chosen.reason.code == -ENOENT ? 0 : chosen.reason.code;
	if (r < 0 && err)
		*err = chosen.reason;
	mutex_unlock(&chosen.lock);
	return r;
}

struct settings_file *settings_file_now(void)
{
	struct settings_file *file;

	if (!chosen.path)
		return NULL;
	mutex_lock(&chosen.lock);
	(void)look_locked();
	file = chosen.now;
	if (file)
		atomic_fetch_add(&file->refs, 1);
	mutex_unlock(&chosen.lock);
	return file;
}
