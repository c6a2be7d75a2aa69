/*
 * Scratch files: see scratch.h. The list is short: most scratch files are
 * renamed a moment after they were made.
 */
#include "fs/draft/scratch.h"

#include "base/clock.h"
#include "fs/draft/draft.h"
#include "fs/tree/fs.h"
#include "fs/tree/ids.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define STAMPS_MAX    1024
#define SCRATCH_HOLDS 32

struct scratch_file {
	struct scratch_file *next;
	struct scratch_info info;
	struct draft *draft;
};

struct scratch_table {
	struct mutex lock;
	struct scratch_file *first GUARDED_BY(lock);
	struct scratch_stamp {
		uint64_t dir;
		uint64_t stamp;
	} * stamps GUARDED_BY(lock); /* when the list of a directory changed */
	size_t stamp_count GUARDED_BY(lock);
	atomic_size_t count; /* files; read without the lock as a hint */
	struct mutex hold[SCRATCH_HOLDS];
};

struct scratch_table *scratch_new(void)
{
	struct scratch_table *t = calloc(1, sizeof *t);
	size_t i;

	if (!t)
		return NULL;
	mutex_init(&t->lock);
	for (i = 0; i < SCRATCH_HOLDS; i++)
		mutex_init(&t->hold[i]);
	return t;
}

static void free_file(struct scratch_file *f)
{
	draft_unref(f->draft);
	free(f);
}

void scratch_free(struct scratch_table *t) NO_THREAD_ANALYSIS /* no other thread is left */
{
	size_t i;

	if (!t)
		return;
	while (t->first) {
		struct scratch_file *f = t->first;

		t->first = f->next;
		free_file(f);
	}
	free(t->stamps);
	mutex_release(&t->lock);
	for (i = 0; i < SCRATCH_HOLDS; i++)
		mutex_release(&t->hold[i]);
	free(t);
}

static void stamp_locked(struct scratch_table *t, uint64_t dir) REQUIRES(t->lock)
{
	size_t i;

	if (!t->stamps) {
		t->stamps = calloc(STAMPS_MAX, sizeof *t->stamps);
		if (!t->stamps)
			return; /* without stamps the time of a directory stays */
	}
	for (i = 0; i < t->stamp_count && t->stamps[i].dir != dir; i++)
		;
	if (i == STAMPS_MAX) /* the oldest row makes room */
		memmove(t->stamps, t->stamps + 1, (--i) * sizeof *t->stamps);
	t->stamps[i] = (struct scratch_stamp){ dir, clock_stamp() };
	t->stamp_count = MAX(t->stamp_count, i + 1);
}

/* The names of the file's directory changed: the kernel must ask for the attributes again. */
static void notify_list(struct fs *fs, const struct scratch_info *info)
{
	uint64_t scope = ref_number(info->scope);

	if (info->dir == (SCRATCH_OF_STATE | scope))
		notify_attributes(&fs->notify, node_ino(scope, ID_STATE_DIR));
	else
		notify_attributes(&fs->notify, node_ino(info->dir, info->dir == scope ? ID_ARTIFACTS
										      : ID_OBJECT));
}

static struct scratch_file **slot_locked(struct scratch_table *t, uint64_t dir, const char *name)
	REQUIRES(t->lock)
{
	struct scratch_file **at = &t->first;

	while (*at && ((*at)->info.dir != dir || strcmp((*at)->info.name, name) != 0))
		at = &(*at)->next;
	return at;
}

static struct scratch_file **number_locked(struct scratch_table *t, uint64_t number)
	REQUIRES(t->lock)
{
	struct scratch_file **at = &t->first;

	while (*at && (*at)->info.number != number)
		at = &(*at)->next;
	return at;
}

/* The list is sorted by number, since listings go on after a number. */
static void insert_locked(struct scratch_table *t, struct scratch_file *f) REQUIRES(t->lock)
{
	struct scratch_file **at = &t->first;

	while (*at && (*at)->info.number < f->info.number)
		at = &(*at)->next;
	f->next = *at;
	*at = f;
	atomic_fetch_add(&t->count, 1);
	stamp_locked(t, f->info.dir);
}

static struct scratch_file *remove_locked(struct scratch_table *t, struct scratch_file **at)
	REQUIRES(t->lock)
{
	struct scratch_file *f = *at;

	if (f) {
		*at = f->next;
		atomic_fetch_sub(&t->count, 1);
		stamp_locked(t, f->info.dir);
	}
	return f;
}

static uint64_t size_of(struct draft *draft)
{
	return draft ? draft_length(draft) : 0;
}

int scratch_add(struct fs *fs, const struct scratch_info *info, struct draft *draft,
		struct err *err)
{
	struct scratch_table *t = fs->scratch;
	struct scratch_file *f = calloc(1, sizeof *f);
	int r = 0;

	if (!f)
		return err_nomem(err);
	f->info = *info;
	f->info.stamp = f->info.changed = clock_stamp();
	f->draft = draft_ref(draft);
	mutex_lock(&t->lock);
	if (*slot_locked(t, info->dir, info->name))
		r = err_set(err, -EEXIST, "there is '%s' already", info->name);
	else if (atomic_load(&t->count) >= SCRATCH_MAX)
		r = err_set(err, -ENOSPC, "the mount already has %u temporary files", SCRATCH_MAX);
	else
		insert_locked(t, f);
	mutex_unlock(&t->lock);
	if (r < 0)
		free_file(f);
	else
		notify_list(fs, info);
	return r;
}

int scratch_create(struct fs *fs, struct scratch_info *info, const struct node_new *by,
		   struct err *err)
{
	struct draft *draft = info->is_directory ? NULL : draft_new(fs->store, true);
	int r = draft || info->is_directory ? 0 : err_nomem(err);

	node_attr_of_new(by, &info->attr);
	info->number = store_new_number(fs->store, err);
	if (r == 0 && !info->number)
		r = -EIO;
	if (r == 0)
		r = scratch_add(fs, info, draft, err);
	draft_unref(draft);
	return r;
}

/* Copy the info and reference the draft. Called with the lock; the draft has a lock of its own. */
static bool copy_out(const struct scratch_file *f, struct scratch_info *out, struct draft **draft)
{
	if (!f)
		return false;
	if (out)
		*out = f->info;
	*draft = draft_ref(f->draft);
	return true;
}

bool scratch_find(struct fs *fs, uint64_t dir, const char *name, struct scratch_info *out)
{
	struct scratch_table *t = fs->scratch;
	struct draft *draft = NULL;
	bool found;

	if (!atomic_load(&t->count))
		return false;
	mutex_lock(&t->lock);
	found = copy_out(*slot_locked(t, dir, name), out, &draft);
	mutex_unlock(&t->lock);
	if (found && out)
		out->size = size_of(draft);
	draft_unref(draft);
	return found;
}

bool scratch_get(struct fs *fs, uint64_t number, struct scratch_info *out, struct draft **draft)
{
	struct scratch_table *t = fs->scratch;
	struct draft *d = NULL;
	bool found;

	if (draft)
		*draft = NULL;
	if (!atomic_load(&t->count))
		return false;
	mutex_lock(&t->lock);
	found = copy_out(*number_locked(t, number), out, &d);
	mutex_unlock(&t->lock);
	if (found && out)
		out->size = size_of(d);
	if (draft)
		*draft = d;
	else
		draft_unref(d);
	return found;
}

/* The files to list: of a directory (0: of all), of a scope (0: of all). */
struct filter {
	uint64_t dir;
	uint64_t scope;
};

static bool matches(const struct filter *want, const struct scratch_info *info)
{
	return (!want->dir || info->dir == want->dir) &&
	       (!want->scope || ref_number(info->scope) == want->scope);
}

/* The first file after a number that passes the filter. */
static bool next_of(struct fs *fs, const struct filter *want, uint64_t after,
		    struct scratch_info *out)
{
	struct scratch_table *t = fs->scratch;
	struct scratch_file *f;
	struct draft *draft = NULL;
	bool found;

	mutex_lock(&t->lock);
	for (f = t->first; f && (!matches(want, &f->info) || f->info.number <= after); f = f->next)
		;
	found = copy_out(f, out, &draft);
	mutex_unlock(&t->lock);
	if (found)
		out->size = size_of(draft);
	draft_unref(draft);
	return found;
}

static int list_matching(struct fs *fs, const struct filter *want, uint64_t after, scratch_fn *fn,
			 void *arg)
{
	struct scratch_info info;
	int r = 0;

	if (!atomic_load(&fs->scratch->count))
		return 0;
	while (r == 0 && next_of(fs, want, after, &info)) {
		r = fn(arg, &info);
		after = info.number;
	}
	return r;
}

int scratch_list(struct fs *fs, uint64_t dir, uint64_t after, scratch_fn *fn, void *arg)
{
	struct filter want = { .dir = dir };

	return list_matching(fs, &want, after, fn, arg);
}

int scratch_list_scope(struct fs *fs, struct ref scope, uint64_t after, scratch_fn *fn, void *arg)
{
	struct filter want = { .scope = ref_number(scope) };

	return list_matching(fs, &want, after, fn, arg);
}

int scratch_text(struct fs *fs, uint64_t number, size_t max, struct buf *text, struct err *err)
{
	struct draft *draft;
	int r;

	if (!scratch_get(fs, number, NULL, &draft))
		return err_set(err, -ENOENT, "the file was removed");
	r = draft_text(draft, max, text, err);
	draft_unref(draft);
	return r;
}

void scratch_hold(struct fs *fs, uint64_t number) NO_THREAD_ANALYSIS
{
	mutex_lock(&fs->scratch->hold[number % SCRATCH_HOLDS]);
}

void scratch_let(struct fs *fs, uint64_t number) NO_THREAD_ANALYSIS
{
	mutex_unlock(&fs->scratch->hold[number % SCRATCH_HOLDS]);
}

bool scratch_remove(struct fs *fs, uint64_t number)
{
	struct scratch_table *t = fs->scratch;
	struct scratch_file *f;

	if (!atomic_load(&t->count))
		return false;
	mutex_lock(&t->lock);
	f = remove_locked(t, number_locked(t, number));
	mutex_unlock(&t->lock);
	if (!f)
		return false;
	notify_list(fs, &f->info);
	free_file(f);
	return true;
}

void scratch_unlink(struct fs *fs, uint64_t number)
{
	inode_removed(&fs->inodes, node_ino(number, ID_OBJECT));
	(void)scratch_remove(fs, number);
	notify_attributes(&fs->notify, node_ino(number, ID_OBJECT));
}

int scratch_replace(struct fs *fs, struct scratch_info *info, const struct node_new *by,
		    struct span text, struct err *err)
{
	const struct node_new as = { .mode = 0600, .uid = by->uid, .gid = by->gid };
	struct scratch_info replaced;
	struct draft *draft;
	int r;

	if (scratch_find(fs, info->dir, info->name, &replaced))
		scratch_unlink(fs, replaced.number);
	r = scratch_create(fs, info, &as, err);
	if (r < 0)
		return r;
	if (!scratch_get(fs, info->number, NULL, &draft))
		return err_set(err, -ENOENT, "the file was removed");
	r = draft_put_text(draft, text, err);
	draft_unref(draft);
	return r;
}

void scratch_set_full_name(struct fs *fs, uint64_t number, const char *full_name)
{
	struct scratch_table *t = fs->scratch;
	struct scratch_file *f;

	mutex_lock(&t->lock);
	f = *number_locked(t, number);
	if (f) {
		f->info.is_new = *full_name;
		(void)snprintf(f->info.full_name, sizeof f->info.full_name, "%s", full_name);
	}
	mutex_unlock(&t->lock);
}

bool scratch_set_attr(struct fs *fs, uint64_t number, const struct artifact_attr *attr)
{
	struct scratch_table *t = fs->scratch;
	struct scratch_file *f;

	if (!atomic_load(&t->count))
		return false;
	mutex_lock(&t->lock);
	f = *number_locked(t, number);
	if (f) {
		attr_merge(&f->info.attr, attr);
		f->info.changed = clock_stamp();
	}
	mutex_unlock(&t->lock);
	return f;
}

void scratch_touch(struct fs *fs, uint64_t number)
{
	struct scratch_table *t = fs->scratch;
	struct scratch_file *f;

	if (!atomic_load(&t->count))
		return;
	mutex_lock(&t->lock);
	f = *number_locked(t, number);
	if (f) {
		f->info.stamp = f->info.changed = clock_stamp();
		f->info.attr.has &= ~(unsigned)(ATTR_MTIME | ATTR_ATIME);
	}
	mutex_unlock(&t->lock);
}

void scratch_move(struct fs *fs, uint64_t number, uint64_t dir, const char *name)
{
	struct scratch_table *t = fs->scratch;
	struct scratch_info old = { 0 };
	struct scratch_file *f;
	struct scratch_file *replaced;

	mutex_lock(&t->lock);
	replaced = remove_locked(t, slot_locked(t, dir, name));
	f = remove_locked(t, number_locked(t, number));
	if (f) {
		old = f->info;
		f->info.dir = dir;
		f->info.changed = clock_stamp();
		(void)snprintf(f->info.name, sizeof f->info.name, "%s", name);
		insert_locked(t, f);
	}
	mutex_unlock(&t->lock);
	if (replaced) {
		inode_removed(&fs->inodes, node_ino(replaced->info.number, ID_OBJECT));
		notify_list(fs, &replaced->info);
		free_file(replaced);
	}
	if (f) {
		notify_list(fs, &old);
		old.dir = dir;
		notify_list(fs, &old);
	}
}

uint64_t scratch_dir_stamp(struct fs *fs, uint64_t dir)
{
	struct scratch_table *t = fs->scratch;
	uint64_t stamp = 0;
	size_t i;

	mutex_lock(&t->lock);
	for (i = 0; i < t->stamp_count; i++)
		stamp = t->stamps[i].dir == dir ? t->stamps[i].stamp : stamp;
	mutex_unlock(&t->lock);
	return stamp;
}

void scratch_dir_touch(struct fs *fs, uint64_t dir)
{
	struct scratch_table *t = fs->scratch;

	mutex_lock(&t->lock);
	stamp_locked(t, dir);
	mutex_unlock(&t->lock);
}

void scratch_dir_settle(struct fs *fs, uint64_t dir)
{
	struct scratch_table *t = fs->scratch;
	size_t i;

	mutex_lock(&t->lock);
	for (i = 0; i < t->stamp_count; i++)
		t->stamps[i].stamp = t->stamps[i].dir == dir ? 0 : t->stamps[i].stamp;
	mutex_unlock(&t->lock);
}

bool scratch_any(struct fs *fs, uint64_t dir)
{
	struct filter want = { .dir = dir };
	struct scratch_info info;

	return atomic_load(&fs->scratch->count) && next_of(fs, &want, 0, &info);
}

void scratch_forget(struct fs *fs, struct ref scope)
{
	struct scratch_table *t = fs->scratch;
	struct scratch_file **at;
	struct scratch_file *gone = NULL;

	mutex_lock(&t->lock);
	at = &t->first;
	while (*at) {
		struct scratch_file *f = *at;

		if (ref_number(f->info.scope) != ref_number(scope)) {
			at = &f->next;
			continue;
		}
		(void)remove_locked(t, at);
		f->next = gone;
		gone = f;
	}
	mutex_unlock(&t->lock);
	while (gone) {
		struct scratch_file *f = gone;

		gone = f->next;
		inode_removed(&fs->inodes, node_ino(f->info.number, ID_OBJECT));
		notify_attributes(&fs->notify, node_ino(f->info.number, ID_OBJECT));
		free_file(f);
	}
}

void scratch_stat(const struct scratch_info *info, struct node_stat *st)
{
	st->size = info->size;
	st->mtime = info->stamp;
	st->ctime = info->changed;
	st->attr = info->attr;
}
