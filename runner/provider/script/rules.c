/*
 * Scripts: see rules.h. This finds, keeps and frees them; parse.c reads
 * the text.
 */
#include "runner/provider/script/rules.h"

#include "base/mutex.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define CACHE_MAX 32

/* Scripts by path, size and time of change; the oldest place is taken next. */
static struct mutex cache_lock = MUTEX_INIT;
static struct script *cached[CACHE_MAX] GUARDED_BY(cache_lock);
static size_t cache_next GUARDED_BY(cache_lock);

static void rule_release(struct script_rule *rule)
{
	size_t i;

	for (i = 0; i < SCRIPT_SUBJECTS; i++)
		pattern_free(rule->when[i]);
	free(rule->calls);
}

static void script_free(struct script *script)
{
	size_t i;

	for (i = 0; i < script->count; i++)
		rule_release(&script->rules[i]);
	free(script->rules);
	if (script->has_document)
		yaml_document_delete(&script->document);
	free(script->path);
	free(script->name);
	free(script);
}

void script_unref(struct script *script)
{
	if (script && atomic_fetch_sub(&script->refs, 1) == 1)
		script_free(script);
}

static struct script *script_ref(struct script *script)
{
	atomic_fetch_add(&script->refs, 1);
	return script;
}

const char *script_name(const struct script *script)
{
	return script->name;
}

const struct script_rule *script_rules(const struct script *script, size_t *count)
{
	*count = script->count;
	return script->rules;
}

yaml_node_t *script_node(const struct script *script, int node)
{
	/* libyaml takes no const, and changes nothing. */
	return yaml_document_get_node((yaml_document_t *)&script->document, node);
}

/* The folder with symbolic links resolved, and the file in it. */
static int resolve(const char *folder, const char *name, char **out, struct err *err)
{
	char *root = realpath(folder, NULL);
	char *joined = NULL;
	char *path = NULL;
	size_t n;
	int r = 0;

	if (root && asprintf(&joined, "%s/%s", root, name) > 0)
		path = realpath(joined, NULL);
	if (!path) {
		r = err_errno(err, errno ? -errno : -ENOMEM, "%.100s", root ? name : folder);
	} else {
		n = strlen(root);
		if (strncmp(path, root, n) != 0 || path[n] != '/')
			r = err_set(err, -EINVAL, "%.100s is outside the agent's folder", name);
	}
	free(root);
	free(joined);
	if (r == 0)
		*out = STEAL(&path);
	free(path);
	return r;
}

static bool is_same(const struct script *script, const char *path, const struct stat *st)
{
	return strcmp(script->path, path) == 0 && script->st.st_size == st->st_size &&
	       script->st.st_ino == st->st_ino && script->st.st_mtim.tv_sec == st->st_mtim.tv_sec &&
	       script->st.st_mtim.tv_nsec == st->st_mtim.tv_nsec;
}

static struct script *cache_find(const char *path, const struct stat *st)
{
	struct script *found = NULL;
	size_t i;

	mutex_lock(&cache_lock);
	for (i = 0; i < CACHE_MAX && !found; i++) {
		if (cached[i] && is_same(cached[i], path, st))
			found = script_ref(cached[i]);
	}
	mutex_unlock(&cache_lock);
	return found;
}

/* An older state of the same file is replaced, else the place that was filled first. */
static void cache_keep(struct script *script)
{
	struct script *old;
	size_t at;

	mutex_lock(&cache_lock);
	for (at = 0; at < CACHE_MAX; at++) {
		if (cached[at] && strcmp(cached[at]->path, script->path) == 0)
			break;
	}
	if (at == CACHE_MAX)
		at = cache_next++ % CACHE_MAX;
	old = cached[at];
	cached[at] = script_ref(script);
	mutex_unlock(&cache_lock);
	script_unref(old);
}

static int read_file(struct script *script, int fd, struct buf *text, struct err *err)
{
	ssize_t n;

	if (fstat(fd, &script->st) < 0)
		return err_errno(err, -errno, "%s", script->name);
	if (!S_ISREG(script->st.st_mode))
		return err_set(err, -EINVAL, "%s is not a regular file", script->name);
	do {
		if (text->len > SCRIPT_FILE_MAX)
			return err_set(err, -EFBIG, "%s is larger than %u bytes", script->name,
				       SCRIPT_FILE_MAX);
		if (!buf_reserve(text, 65536))
			return err_nomem(err);
		n = read(fd, text->data + text->len, 65536);
		if (n > 0)
			text->len += (size_t)n;
	} while (n > 0 || (n < 0 && errno == EINTR));
	return n < 0 ? err_errno(err, -errno, "%s", script->name) : 0;
}

static int load(struct script *script, struct err *err)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	int fd = open(script->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int r;

	if (fd < 0)
		return err_errno(err, -errno, "%s", script->name);
	r = read_file(script, fd, &text, err);
	(void)close(fd);
	return r < 0 ? r : script_parse(script, buf_span(&text), err);
}

static struct script *script_new(char *path, const char *name)
{
	struct script *script = calloc(1, sizeof *script);

	if (!script) {
		free(path);
		return NULL;
	}
	script->refs = 1;
	script->path = path;
	script->name = strdup(name);
	if (script->name)
		return script;
	script_free(script);
	return NULL;
}

int script_open(const char *folder, const char *name, struct script **out, struct err *err)
{
	CLEANUP(script_unref_p) struct script *script = NULL;
	struct stat st;
	char *path = NULL;
	int r = resolve(folder, name, &path, err);

	if (r < 0)
		return r;
	if (stat(path, &st) == 0)
		script = cache_find(path, &st);
	if (script) {
		free(path);
		*out = STEAL(&script);
		return 0;
	}
	script = script_new(path, name);
	if (!script)
		return err_nomem(err);
	r = load(script, err);
	if (r < 0)
		return r;
	cache_keep(script);
	*out = STEAL(&script);
	return 0;
}
