/*
 * Caches of files: see file_cache.h.
 */
#include "runner/syntax/file_cache.h"

#include "runner/syntax/folder.h"

#include <errno.h>
#include <stdlib.h>

void file_cache_unref(const struct file_cache *cache, struct cached_file *file)
{
	if (!file || atomic_fetch_sub(&file->refs, 1) > 1)
		return;
	if (file->is_parsed)
		cache->release(file);
	free(file->path);
	free(file->name);
	free(file);
}

static bool is_same(const struct cached_file *a, const struct cached_file *b)
{
	return strcmp(a->path, b->path) == 0 && a->st.st_size == b->st.st_size &&
	       a->st.st_ino == b->st.st_ino && a->st.st_mtim.tv_sec == b->st.st_mtim.tv_sec &&
	       a->st.st_mtim.tv_nsec == b->st.st_mtim.tv_nsec;
}

/* A new reference to what was read of the same file; NULL: the file must be read. */
static struct cached_file *cache_find(struct file_cache *cache, const struct cached_file *file)
{
	struct cached_file *found = NULL;
	unsigned i;

	mutex_lock(&cache->lock);
	for (i = 0; i < cache->places && !found; i++) {
		if (cache->list[i] && is_same(cache->list[i], file))
			found = cache->list[i];
	}
	if (found)
		atomic_fetch_add(&found->refs, 1);
	mutex_unlock(&cache->lock);
	return found;
}

/* An older state of the same file is replaced, else the place that was filled first. */
static void cache_keep(struct file_cache *cache, struct cached_file *file)
{
	struct cached_file *old;
	unsigned at = 0;

	mutex_lock(&cache->lock);
	while (at < cache->places &&
	       !(cache->list[at] && strcmp(cache->list[at]->path, file->path) == 0))
		at++;
	if (at == cache->places)
		at = cache->next++ % cache->places;
	old = cache->list[at];
	cache->list[at] = file;
	atomic_fetch_add(&file->refs, 1);
	mutex_unlock(&cache->lock);
	file_cache_unref(cache, old);
}

/* Read the file, unless *file can be replaced by what was read before. */
static int load(struct file_cache *cache, struct folder *folder, struct cached_file **file,
		struct err *err)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	struct cached_file *f = *file;
	struct cached_file *found;
	int r = folder_resolve(folder, f->name, &f->path, err);

	if (r < 0)
		return r;
	if (stat(f->path, &f->st) < 0)
		return err_errno(err, -errno, "%s", f->name);
	found = cache_find(cache, f);
	if (found) {
		file_cache_unref(cache, f);
		*file = found;
		return 0;
	}
	r = folder_read(folder, f->name, cache->max, &text, err);
	f->is_parsed = r == 0;
	if (r == 0)
		r = cache->parse(f, buf_span(&text), err);
	if (r == 0)
		cache_keep(cache, f);
	return r;
}

int file_cache_open(struct file_cache *cache, const char *folder, const char *name,
		    struct cached_file **out, struct err *err)
{
	struct cached_file *file = calloc(1, cache->size);
	struct folder dir = { 0 };
	int r;

	if (!file)
		return err_nomem(err);
	atomic_init(&file->refs, 1);
	file->name = strdup(name);
	r = file->name ? folder_open(folder, &dir, err) : -ENOMEM;
	if (r == 0)
		r = load(cache, &dir, &file, err);
	folder_release(&dir);
	if (r == 0)
		*out = file;
	else
		file_cache_unref(cache, file);
	return r == -ENOMEM ? err_nomem(err) : r;
}
