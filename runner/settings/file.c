/*
 * The settings file: see file.h.
 */
#include "runner/settings/file.h"

#include "base/mutex.h"
#include "runner/model/settings.h"
#include "runner/settings/settings.h"
#include "runner/syntax/yaml.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define APPS_MEMBER "apps"
#define PATH_MAX_OF 192 /* of a member, as errors name it */

struct app_settings {
	char *name;
	struct settings *settings;
};

struct settings_file {
	atomic_uint refs;
	struct settings *providers;
	struct app_settings *apps;
	size_t app_count;
};

/* A state of the file; all zero is that it is not there. */
struct state {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec changed; /* also its owner and mode */
	struct timespec written;
};

static struct {
	char *path; /* fixed before threads */

	struct mutex lock; /* nothing is taken under it; the file is read */
	struct settings_file *now GUARDED_BY(lock);
	struct state seen GUARDED_BY(lock);
	struct err reason GUARDED_BY(lock); /* code 0: none */
} chosen = { .lock = MUTEX_INIT };

/* What was read */

void settings_file_unref(struct settings_file *file)
{
	size_t i;

	if (!file || atomic_fetch_sub(&file->refs, 1) > 1)
		return;
	for (i = 0; i < file->app_count; i++) {
		free(file->apps[i].name);
		settings_free(file->apps[i].settings);
	}
	free(file->apps);
	settings_free(file->providers);
	free(file);
}

static struct settings_file *file_new(void)
{
	struct settings_file *file = calloc(1, sizeof *file);

	if (!file)
		return NULL;
	atomic_init(&file->refs, 1);
	if (settings_of(SPAN("{}"), &file->providers) == 0)
		return file;
	free(file);
	return NULL;
}

static const struct app_settings *find_app(const struct settings_file *file, const char *name)
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
	const struct app_settings *section = app ? find_app(file, app) : NULL;
	const struct settings *settings = section ? section->settings : NULL;

	if (!app)
		settings = file->providers;
	return settings ? settings_at(settings, SETTINGS_OWN, name) : NULL;
}

const char *settings_file_app(const struct settings_file *file, size_t number)
{
	return number < file->app_count ? file->apps[number].name : NULL;
}

/* Reading */

struct reader {
	struct settings_file *file;
	const struct yaml_tree *yaml;
	struct err *err;
};

/* A value as the text of its setting. */
static int take_value(struct reader *rd, const char *path, const json_t *value,
		      const struct model_member *member, struct buf *text)
{
	const char *why = NULL;
	int r = model_member_text(member, value, text, &why);

	return r == -EINVAL ? yaml_tree_fail(rd->yaml, rd->err, path, "%s", why) : r;
}

static int take_member(struct reader *rd, const struct model_provider *provider, const char *path,
		       const char *name, const json_t *value, struct settings *into)
{
	CLEANUP(buf_release) struct buf known = { 0 };
	CLEANUP(settings_wipe) struct buf text = { 0 };
	struct model_member member = { 0 };
	int r = model_member_find(provider, name, &member, &known);

	if (r == -ENOENT && buf_cstr(&known))
		return yaml_tree_fail(rd->yaml, rd->err, path, "is unknown: there are %s",
				      known.data);
	if (r == 0)
		r = take_value(rd, path, value, &member, &text);
	if (r == 0)
		r = settings_put(into, buf_span(&member.setting), buf_span(&text));
	buf_release(&member.setting);
	return r == -ENOENT ? -ENOMEM : r;
}

/* The members of a provider's section. */
static int take_section(struct reader *rd, const char *path, const char *name,
			const json_t *section, struct settings *into)
{
	const struct model_provider *provider = model_provider_named(name);
	const char *key;
	json_t *value;
	int r = 0;

	if (!provider)
		return yaml_tree_fail(rd->yaml, rd->err, path, "there is no provider '%.40s'",
				      name);
	if (!json_is_object(section))
		return yaml_tree_fail(rd->yaml, rd->err, path, "is not a mapping");
	json_object_foreach((json_t *)section, key, value)
	{
		char below[PATH_MAX_OF];

		if (r == 0) {
			(void)snprintf(below, sizeof below, "%s.%s", path, key);
			r = take_member(rd, provider, below, key, value, into);
		}
	}
	return r;
}

static int add_app(struct settings_file *file, const char *name, struct settings **out)
{
	struct app_settings *apps = reallocarray(file->apps, file->app_count + 1,
						 sizeof *file->apps);
	struct app_settings *app;

	if (!apps)
		return -ENOMEM;
	file->apps = apps;
	app = &apps[file->app_count];
	*app = (struct app_settings){ .name = strdup(name) };
	if (!app->name || settings_of(SPAN("{}"), &app->settings) < 0) {
		free(app->name);
		return -ENOMEM;
	}
	file->app_count++;
	*out = app->settings;
	return 0;
}

static int take_app(struct reader *rd, const char *name, const json_t *sections)
{
	struct settings *into = NULL;
	char path[PATH_MAX_OF];
	const char *key;
	json_t *value;
	int r;

	(void)snprintf(path, sizeof path, APPS_MEMBER ".%s", name);
	if (!json_is_object(sections))
		return yaml_tree_fail(rd->yaml, rd->err, path, "is not a mapping");
	r = add_app(rd->file, name, &into);
	json_object_foreach((json_t *)sections, key, value)
	{
		if (r == 0) {
			(void)snprintf(path, sizeof path, APPS_MEMBER ".%s.%s", name, key);
			r = take_section(rd, path, key, value, into);
		}
	}
	return r;
}

static int take_apps(struct reader *rd, json_t *apps)
{
	const char *key;
	json_t *value;
	int r = 0;

	if (!json_is_object(apps))
		return yaml_tree_fail(rd->yaml, rd->err, APPS_MEMBER, "is not a mapping");
	json_object_foreach(apps, key, value)
	{
		if (r == 0)
			r = take_app(rd, key, value);
	}
	return r;
}

static int take_all(struct reader *rd)
{
	const char *key;
	json_t *value;
	int r = 0;

	if (json_is_null(rd->yaml->root))
		return 0;
	if (!json_is_object(rd->yaml->root))
		return yaml_tree_fail(rd->yaml, rd->err, "", "the file is not a mapping");
	json_object_foreach(rd->yaml->root, key, value)
	{
		if (r == 0 && !strcmp(key, APPS_MEMBER))
			r = take_apps(rd, value);
		else if (r == 0)
			r = take_section(rd, key, key, value, rd->file->providers);
	}
	return r;
}

static int parse(struct span text, const char *path, struct settings_file **out, struct err *err)
{
	CLEANUP(settings_file_unref_p) struct settings_file *file = file_new();
	CLEANUP(yaml_tree_free_p) struct yaml_tree *yaml = NULL;
	struct reader rd = { .file = file, .err = err };
	int r;

	if (!file)
		return err_nomem(err);
	r = yaml_tree_load(text, path, &yaml, err);
	if (r < 0)
		return r;
	rd.yaml = yaml;
	r = take_all(&rd);
	if (r < 0)
		return r == -ENOMEM ? err_nomem(err) : r;
	*out = STEAL(&file);
	return 0;
}

/* Secrets are for one person: nobody else may have written or may read them. */
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
	CLEANUP(settings_wipe) struct buf text = { 0 };
	int r = check_owner(st, path, err);

	if (r == 0)
		r = settings_read(fd, path, YAML_TREE_TEXT_MAX, &text, err);
	return r < 0 ? r : parse(buf_span(&text), path, out, err);
}

/* Looking whether it changed */

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

/* Read it anew; -ENOENT: it is not there. */
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

int settings_file_open(const char *path, struct err *err)
{
	int r;

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
