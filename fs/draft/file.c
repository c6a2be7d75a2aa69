/*
 * Open artifacts and scratch files: the file_ops that read and write a draft.
 * The tables are at the end. See draft.h.
 */
#include "fs/draft/inside.h"
#include "fs/draft/scratch.h"
#include "fs/tree/handle.h"
#include "fs/tree/ids.h"

#include <errno.h>
#include <linux/falloc.h>
#include <stdlib.h>

#define ARTIFACT_MAX (1ull << 40) /* bytes */

/* Whether an open reads its draft rather than the stored bytes. */
static bool reads_draft(struct handle *h, const struct opened *o)
{
	bool use;

	if (!o->draft || !atomic_load(&o->draft->is_based))
		return false;
	if (handle_writes(h))
		return true;
	mutex_lock(&o->draft->lock);
	use = !o->draft->version; /* once another open has saved the draft, read the stored bytes */
	mutex_unlock(&o->draft->lock);
	return use;
}

static int plan_read(struct handle *h, uint64_t offset, size_t size, struct blob_plan *plan,
		     struct err *err)
{
	struct opened *o = h->state;
	int r;

	if (reads_draft(h, o)) {
		mutex_lock(&o->draft->lock);
		r = blob_plan(&o->draft->blob, offset, size, plan, err);
		mutex_unlock(&o->draft->lock);
		return r;
	}
	mutex_lock(&h->lock);
	r = draft_refresh_view(h, o, err);
	if (r == 0)
		r = blob_plan(&o->view, offset, size, plan, err);
	mutex_unlock(&h->lock);
	return r;
}

int draft_read(struct handle *h, uint64_t offset, size_t size, struct buf *out, struct err *err)
{
	struct blob_plan plan;
	int r = plan_read(h, offset, size, &plan, err);

	return r < 0 ? r : blob_plan_read(&plan, out, err);
}

static int check_open_locked(const struct draft *d, struct err *err) REQUIRES(d->lock)
{
	return d->is_over ? err_set(err, -ESTALE, "the program that the file was for has ended")
			  : 0;
}

static int cut_off(struct draft *d, struct err *err)
{
	int r;

	mutex_lock(&d->lock);
	r = check_open_locked(d, err);
	if (r == 0)
		r = blob_truncate(&d->blob, 0, err);
	if (r == 0) {
		d->is_cut = true;
		atomic_store(&d->is_saved, false);
		atomic_store(&d->is_based, true);
		draft_measure_locked(d);
	}
	mutex_unlock(&d->lock);
	return r;
}

/*
 * The draft of a file that is not in the store. All opens share the draft of a scratch file.
 * The draft of a new artifact is for the open that made it; each other writer makes a version
 * of its own.
 */
static struct draft *draft_of_unsaved(const struct place *at)
{
	struct scratch_info info;
	struct draft *d;

	if (!scratch_get(at->fs, at->item, &info, &d))
		return NULL;
	if ((at->type->flags & NODE_SCRATCH) || !atomic_exchange(&d->is_claimed, true))
		return d;
	draft_unref(d);
	return NULL;
}

int draft_open(struct handle *h, struct err *err)
{
	const struct place *at = inode_place(h->inode);
	struct opened *o;
	int r = 0;

	if (at->n && handle_writes(h) && !atomic_load(&h->inode->pending))
		return err_set(err, -EACCES, "a saved version cannot be written");
	o = calloc(1, sizeof *o);
	if (!o)
		return err_nomem(err);
	blob_init(&o->view, at->fs->store);
	h->state = o;
	o->draft = draft_of_unsaved(at);
	if (!o->draft && handle_writes(h)) {
		o->draft = draft_new(at->fs->store, false);
		r = o->draft ? 0 : err_nomem(err);
	}
	if (r == 0 && o->draft && handle_writes(h) && (h->flags & O_TRUNC))
		r = cut_off(o->draft, err);
	/* The open keeps the bytes of now, even if the file is removed later. */
	if (r == 0 && !(o->draft && atomic_load(&o->draft->is_based)))
		r = draft_refresh_view(h, o, err);
	if (r < 0) {
		draft_unref(o->draft);
		blob_close(&o->view);
		free(o);
		return r;
	}
	if (handle_writes(h))
		atomic_fetch_add(&h->inode->writers, 1);
	return 0;
}

/* Copy the view: the bytes at the open, or at the latest read. */
static int load_viewed(struct handle *h, struct blob *blob, struct err *err)
{
	struct opened *o = h->state;
	int r = 0;

	mutex_lock(&h->lock);
	if (o->has_view && o->view.size)
		r = blob_share(blob, 0, &o->view, 0, o->view.size, err);
	mutex_unlock(&h->lock);
	return r;
}

/* Load the stored bytes into the draft, once. */
static int base_locked(struct handle *h, struct draft *d, struct err *err) REQUIRES(d->lock)
{
	int r = check_open_locked(d, err);

	draft_stop_closing_locked(h, d);
	if (r < 0 || atomic_load(&d->is_based))
		return r;
	r = draft_load_stored(inode_place(h->inode), &d->blob, err);
	if (r == -ENOENT && (atomic_load(&h->inode->pending) || atomic_load(&h->inode->gone)))
		r = load_viewed(h, &d->blob, err); /* the file is being made, or was removed */
	if (r < 0)
		return r;
	atomic_store(&d->is_based, true);
	draft_measure_locked(d);
	return 0;
}

/* Note that the draft has new bytes; times that a user had set end with that. */
static void written_locked(struct handle *h, struct draft *d) REQUIRES(d->lock)
{
	d->is_written = true;
	atomic_store(&d->is_saved, false);
	draft_measure_locked(d);
	mutex_lock(&d->attr_lock);
	d->attr.has &= ~(unsigned)(ATTR_MTIME | ATTR_ATIME);
	mutex_unlock(&d->attr_lock);
	scratch_touch(h->at.fs, inode_place(h->inode)->item);
}

static int check_size(uint64_t offset, uint64_t len, struct err *err)
{
	if (offset > ARTIFACT_MAX || len > ARTIFACT_MAX - offset)
		return err_set(err, -EFBIG, "an artifact can be at most %llu bytes long",
			       ARTIFACT_MAX);
	return 0;
}

static ssize_t draft_write(struct handle *h, uint64_t offset, struct span data, struct err *err)
{
	struct opened *o = h->state;
	struct draft *d = o->draft;
	int r;

	mutex_lock(&d->lock);
	r = base_locked(h, d, err);
	if (offset == NODE_APPEND)
		offset = d->blob.size;
	if (r == 0)
		r = check_size(offset, data.len, err);
	if (r == 0)
		r = blob_write(&d->blob, offset, data, err);
	if (r == 0)
		written_locked(h, d);
	mutex_unlock(&d->lock);
	return r < 0 ? r : (ssize_t)data.len;
}

static int draft_truncate(struct handle *h, uint64_t size, struct err *err)
{
	struct opened *o = h->state;
	struct draft *d = o->draft;
	int r = check_size(size, 0, err);

	if (r < 0)
		return r;
	mutex_lock(&d->lock);
	r = base_locked(h, d, err);
	if (r == 0 && size != d->blob.size) {
		r = blob_truncate(&d->blob, size, err);
		written_locked(h, d);
	}
	mutex_unlock(&d->lock);
	return r;
}

static int draft_allocate(struct handle *h, int mode, uint64_t offset, uint64_t len,
			  struct err *err)
{
	struct opened *o = h->state;
	struct draft *d = o->draft;
	bool clears = mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE);
	uint64_t end = offset + len;
	int r;

	if (mode & ~(FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE))
		return -EOPNOTSUPP;
	r = check_size(offset, len, err);
	if (r < 0)
		return r;
	mutex_lock(&d->lock);
	r = base_locked(h, d, err);
	if (r == 0 && clears && offset < d->blob.size) {
		r = blob_clear(&d->blob, offset, MIN(end, d->blob.size), err);
		written_locked(h, d);
	}
	if (r == 0 && !(mode & FALLOC_FL_KEEP_SIZE) && end > d->blob.size) {
		r = blob_truncate(&d->blob, end, err);
		written_locked(h, d);
	}
	mutex_unlock(&d->lock);
	return r;
}

static int draft_seek(struct handle *h, uint64_t offset, bool data, uint64_t *out, struct err *err)
{
	struct opened *o = h->state;
	int r;

	if (reads_draft(h, o)) {
		mutex_lock(&o->draft->lock);
		r = blob_seek(&o->draft->blob, offset, data, out);
		mutex_unlock(&o->draft->lock);
		return r;
	}
	mutex_lock(&h->lock);
	r = draft_refresh_view(h, o, err);
	if (r == 0)
		r = blob_seek(&o->view, offset, data, out);
	mutex_unlock(&h->lock);
	return r;
}

/* Copy a part of the bytes that a handle reads into a new blob. */
static int copy_part(struct handle *h, uint64_t offset, uint64_t len, struct blob *part,
		     struct err *err)
{
	struct opened *o = h->state;
	bool use_draft = reads_draft(h, o);
	struct mutex *lock = use_draft ? &o->draft->lock : &h->lock;
	struct blob *from;
	int r = 0;

	mutex_lock(lock);
	if (!use_draft)
		r = draft_refresh_view(h, o, err);
	from = use_draft ? &o->draft->blob : &o->view;
	if (r == 0 && offset < from->size)
		r = blob_share(part, 0, from, offset, MIN(len, from->size - offset), err);
	mutex_unlock(lock);
	return r;
}

static ssize_t draft_copy(struct handle *from, uint64_t offset, struct handle *to,
			  uint64_t to_offset, uint64_t len, struct err *err)
{
	struct opened *o = to->state;
	struct draft *d = o->draft;
	CLEANUP(blob_close) struct blob part;
	int r;

	blob_init(&part, from->at.fs->store);
	r = copy_part(from, offset, len, &part, err);
	if (r == 0)
		r = check_size(to_offset, part.size, err);
	if (r < 0 || !part.size)
		return r;
	mutex_lock(&d->lock);
	r = base_locked(to, d, err);
	if (r == 0)
		r = blob_share(&d->blob, to_offset, &part, 0, part.size, err);
	if (r == 0)
		written_locked(to, d);
	mutex_unlock(&d->lock);
	return r < 0 ? r : (ssize_t)part.size;
}

static int draft_sync(struct handle *h, struct err *err)
{
	struct opened *o = h->state;
	int r;

	if (!o->draft)
		return 0; /* the close of a writer has written the version */
	mutex_lock(&o->draft->lock);
	r = blob_settle(&o->draft->blob, true, err);
	mutex_unlock(&o->draft->lock);
	return r;
}

const struct file_ops draft_ops = {
	.open = draft_open,
	.write = draft_write,
	.truncate = draft_truncate,
	.settle = draft_settle,
	.allocate = draft_allocate,
	.seek = draft_seek,
	.copy = draft_copy,
	.draft_size = draft_size,
	.flush = draft_flush,
	.sync = draft_sync,
	.release = draft_release,
};

void scratch_place(const struct place *dir, const struct scratch_info *info, struct place *child)
{
	*child = place_child(dir, &scratch_node);
	child->parent = info->dir;
	child->item = info->number;
	child->name = info->name;
}

int scratch_found(const struct place *dir, const struct scratch_info *info, struct place *child,
		  struct buf *text, struct err *err)
{
	scratch_place(dir, info, child);
	return place_copy_name(child, info->name, text, err);
}

struct emitting {
	struct lister *l;
	uint64_t base; /* added to the cookies */
};

static int emit_scratch(void *arg, const struct scratch_info *info)
{
	const struct emitting *e = arg;
	struct place child;

	scratch_place(e->l->dir, info, &child);
	return lister_emit(e->l, info->name, &child, e->base + info->number, NULL);
}

int scratch_emit(struct lister *l, uint64_t dir, uint64_t base, uint64_t after)
{
	struct emitting e = { l, base };

	return scratch_list(l->dir->fs, dir, after > base ? after - base : 0, emit_scratch, &e);
}

static int scratch_node_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	struct scratch_info info;

	if (!scratch_get(at->fs, at->item, &info, NULL)) {
		if (draft_stat_unlinked(at, st))
			return 0;
		return err_set(err, -ENOENT, "the file was removed");
	}
	scratch_stat(&info, st);
	return 0;
}

static int scratch_node_set_attr(const struct place *at, const struct artifact_attr *attr,
				 struct err *err)
{
	if (scratch_set_attr(at->fs, at->item, attr))
		return 0;
	return err_set(err, -ESTALE, "the file was removed");
}

const struct node_type scratch_node = {
	.name = "<temporary file>",
	.id = ID_OBJECT,
	.mode = S_IFREG | 0600,
	.flags = NODE_DIRECT | NODE_SCRATCH,
	.stat = scratch_node_stat,
	.set_attr = scratch_node_set_attr,
	.read = draft_read,
	.file = &draft_ops,
};
