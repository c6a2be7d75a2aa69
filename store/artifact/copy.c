/*
 * Artifacts of a session that is forked or rewound: see artifact.h.
 */
#include "base/clock.h"
#include "store/artifact/artifact.h"
#include "store/artifact/item.h"
#include "store/artifact/version.h"

#include <errno.h>
#include <stdio.h>

struct forking {
	struct store_tx *tx;
	uint64_t from; /* directory */
	uint64_t to;
	artifact_cut_fn *highest;
	void *arg;
	size_t kept; /* entries of `to` */
};

struct copying {
	struct store_tx *tx;
	uint64_t from; /* histories */
	uint64_t to;
	uint64_t highest;
	struct artifact_info *info; /* describes the copy */
};

static int copy_version(void *arg, const struct version_info *old)
{
	struct copying *c = arg;
	CLEANUP(extents_release) struct extents map = { 0 };
	CLEANUP(buf_release) struct buf meta = { 0 };
	struct version_info v;
	int r;

	if (old->n > c->highest)
		return 0;
	r = version_load(c->tx, c->from, old->n, &v, &meta);
	if (r == 0)
		r = version_map(c->tx, c->from, &v, &map);
	if (r < 0)
		return r;
	v.number = store_tx_number(c->tx);
	if (!v.number)
		return -EIO;
	r = version_save(c->tx, c->to, &v, buf_span(&meta), &map);
	if (r == 0)
		item_note_version(c->info, &v);
	return r;
}

static int fork_directory(struct forking *f);

static int fork_below(struct forking *f, const struct artifact_info *info, uint64_t number)
{
	struct forking below = *f;
	int r;

	below.from = info->number;
	below.to = number;
	below.kept = 0;
	r = fork_directory(&below);
	if (r < 0 || !below.kept)
		return r;
	item_save_marker(f->tx, number, clock_stamp(), info->attr.has & ATTR_MTIME,
			 info->attr.mtime);
	return 1;
}

/* 1: something was kept. */
static int fork_file(struct forking *f, const struct artifact_info *info,
		     struct artifact_info *copy)
{
	struct copying c = { .tx = f->tx, .from = info->history, .to = copy->number, .info = copy };
	int r;

	c.highest = f->highest(f->arg, info->full_name);
	if (!c.highest)
		return 0;
	copy->latest = copy->tombstone = copy->size = 0;
	r = version_scan(f->tx, info->history, 0, copy_version, &c);
	copy->highest = MIN(info->highest, c.highest);
	copy->attr = info->attr;
	if (info->latest != copy->latest)
		copy->attr.has &= ~(unsigned)(ATTR_MTIME | ATTR_ATIME);
	return r < 0 ? r : 1;
}

static int fork_item(void *arg, struct span key, struct span value)
{
	struct forking *f = arg;
	struct artifact_info info;
	struct artifact_info copy;
	int r = item_load(f->tx, f->from, key_last_number(key), &info);

	(void)value;
	if (r < 0 || info.removed)
		return r;
	copy = info;
	copy.number = copy.history = store_tx_number(f->tx);
	if (!copy.number)
		return -EIO;
	r = info.is_directory ? fork_below(f, &info, copy.number) : fork_file(f, &info, &copy);
	if (r <= 0)
		return r;
	item_save(f->tx, f->to, &copy);
	item_save_name(f->tx, f->to, &copy);
	f->kept++;
	return 0;
}

static int fork_directory(struct forking *f)
{
	struct key prefix = key_dir(KEY_ITEM, f->from, KEY_FILE);

	return store_scan(f->tx, &prefix, &prefix, fork_item, f);
}

int artifact_fork(struct store_tx *tx, struct ref from, struct ref to, artifact_cut_fn *highest,
		  void *arg)
{
	struct forking f = { .tx = tx,
			     .from = ref_number(from),
			     .to = ref_number(to),
			     .highest = highest,
			     .arg = arg };

	return fork_directory(&f);
}

/* Walk a full name down to its directory; *name is what is left. */
static int find_directory(struct store_tx *tx, const char **name, uint64_t *parent)
{
	struct artifact_info info;
	const char *slash;

	while ((slash = strchr(*name, '/'))) {
		char part[sizeof info.name];
		int r;

		if ((size_t)(slash - *name) >= sizeof part)
			return -ENOENT;
		memcpy(part, *name, (size_t)(slash - *name));
		part[slash - *name] = 0;
		r = item_load_name(tx, *parent, part, &info);
		if (r < 0 || !info.is_directory || info.removed)
			return r < 0 ? r : -ENOENT;
		*parent = info.number;
		*name = slash + 1;
	}
	return 0;
}

static int put_restored(struct session_tx *s, uint64_t parent, struct artifact_info *a, uint64_t n,
			struct version_info *v)
{
	CLEANUP(extents_release) struct extents map = { 0 };
	CLEANUP(buf_release) struct buf meta = { 0 };
	bool was_visible = item_is_visible(a);
	enum change_kind kind;
	int r = 0;

	if (n) {
		r = version_load(s->tx, a->history, n, v, &meta);
		if (r == 0)
			r = version_map(s->tx, a->history, v, &map);
	}
	if (r < 0)
		return r;
	v->is_tombstone = !n;
	v->n = 0;
	v->stamp = s->stamp;
	v->created = clock_now();
	v->number = store_tx_number(s->tx);
	if (!v->number)
		return -EIO;
	r = version_take_number(s->tx, a->history, &a->highest, &v->n);
	if (r == 0)
		r = version_save(s->tx, a->history, v, buf_span(&meta), &map);
	if (r < 0)
		return r;
	item_note_version(a, v);
	item_save(s->tx, parent, a);
	if (was_visible != item_is_visible(a)) {
		if (parent == ref_number(s->ref))
			s->session.artifacts_stamp = s->stamp;
		else
			item_save_marker(s->tx, parent, s->stamp, false, 0);
	}
	kind = !n ? CHANGE_ARTIFACT_REMOVED : was_visible ? CHANGE_ARTIFACT : CHANGE_ARTIFACT_ADDED;
	return item_tell(s->tx, kind, s->ref, parent, a, NULL);
}

int artifact_restore(struct session_tx *s, const char *full_name, uint64_t n, uint64_t *made)
{
	struct version_info v = { 0 };
	struct artifact_info a;
	uint64_t parent = ref_number(s->ref);
	const char *name = full_name;
	int r = find_directory(s->tx, &name, &parent);

	if (r == 0)
		r = item_load_name(s->tx, parent, name, &a);
	if (r == 0 && (a.is_directory || (!a.latest && !a.tombstone)))
		r = -ENOENT;
	if (r < 0)
		return r == -ENOENT ? err_set(s->tx->err, r, "there is no artifact '%s'", full_name)
				    : r;
	r = put_restored(s, parent, &a, n, &v);
	*made = v.n;
	return r < 0 ? r : item_tell(s->tx, CHANGE_VERSION_ADDED, s->ref, parent, &a, &v);
}
