/*
 * Operations on all drafts of a file: see draft.h.
 */
#include "fs/draft/inside.h"

#include "fs/tree/handle.h"

struct looking {
	struct node_stat *st;
	const struct artifact_attr *attr;
	uint64_t largest;
	bool found;
};

static void look_at_size(struct handle *h, void *arg)
{
	struct looking *l = arg;
	struct opened *o = h->state;

	if (l->found) /* the latest open comes first, and decides */
		return;
	l->found = true;
	if (!draft_own_size(h, &l->st->size))
		l->st->size = atomic_load(&o->view_size);
}

bool draft_stat_unlinked(const struct place *at, struct node_stat *st)
{
	struct looking l = { .st = st };

	if (!at->inode || !atomic_load(&at->inode->gone))
		return false;
	handle_each(at->fs, at->inode->ino, look_at_size, &l);
	st->mtime = at->fs->mounted;
	st->is_unlinked = true;
	return l.found;
}

static void keep_attr(struct handle *h, void *arg)
{
	struct looking *l = arg;
	struct opened *o = h->state;

	if (!o->draft || !handle_writes(h))
		return;
	mutex_lock(&o->draft->attr_lock);
	attr_merge(&o->draft->attr, l->attr);
	mutex_unlock(&o->draft->attr_lock);
}

void draft_keep_attr(const struct place *at, const struct artifact_attr *attr)
{
	struct looking l = { .attr = attr };

	if (at->inode && atomic_load(&at->inode->writers))
		handle_each(at->fs, at->inode->ino, keep_attr, &l);
}

static void note_rename(struct handle *h, void *arg)
{
	struct opened *o = h->state;

	(void)arg;
	if (o->draft && handle_writes(h))
		atomic_store(&o->draft->is_renamed, true);
}

void draft_renamed(struct fs *fs, uint64_t ino)
{
	handle_each(fs, ino, note_rename, NULL);
}

/* Load the latest bytes into an open that reads. */
static void keep_latest(struct handle *h, void *arg)
{
	struct opened *o = h->state;

	(void)arg;
	mutex_lock(&h->lock);
	if (o->has_view)
		(void)!draft_refresh_view(h, o, NULL); /* on failure the old view stays */
	mutex_unlock(&h->lock);
}

void draft_keep_open(struct fs *fs, uint64_t ino)
{
	handle_each(fs, ino, keep_latest, NULL);
}

static void look_for_largest(struct handle *h, void *arg)
{
	struct looking *l = arg;
	uint64_t size;

	if ((h->flags & O_ACCMODE) == O_RDWR && !atomic_load(&h->is_left) && draft_size(h, &size))
		l->largest = MAX(l->largest, size);
}

uint64_t draft_largest(const struct place *at)
{
	struct looking l = { 0 };

	if (at->inode && atomic_load(&at->inode->writers))
		handle_each(at->fs, at->inode->ino, look_for_largest, &l);
	return l.largest;
}
