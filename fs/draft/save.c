/*
 * Saving a draft as a version: see draft.h.
 */
#include "fs/draft/inside.h"

#include "fs/draft/scratch.h"
#include "fs/tree/closing.h"
#include "fs/tree/handle.h"
#include "store/artifact/mime.h"

#include <errno.h>
#include <stdlib.h>

#define USER_PREFIX "user:"

/* Whether the bytes of a version must be on the disk before its name is. */
static bool wants_sync(const struct handle *h)
{
	return (h->flags & O_DSYNC) || store_durability(h->at.fs->store) == DURABILITY_DISK;
}

static void guess_type_locked(struct draft *d, const char *name, char *mime, size_t size)
	REQUIRES(d->lock)
{
	CLEANUP(buf_release) struct buf head = { 0 };

	(void)!blob_read(&d->blob, 0, MIME_LOOK_BYTES, &head,
			 NULL); /* without the head the name decides */
	mime_guess(buf_span(&head), name, mime, size);
}

/* Fill in the directory of the new version, and the attributes that the file has already. */
static int find_target(const struct place *at, struct artifact_save *s, struct artifact_attr *attr,
		       struct err *err)
{
	struct artifact_info info;
	struct scratch_info scratch;

	if (scratch_get(at->fs, at->item, &scratch, NULL))
		attr_merge(attr, &scratch.attr);
	if (!at->n)
		return 0;
	s->n = at->n;
	s->version_number = at->item;
	s->number = 0;
	return artifact_resolve(at->fs->store, at->ref, at->name, &s->parent, &info, err);
}

static bool is_gone(const struct place *at)
{
	return at->inode && atomic_load(&at->inode->gone);
}

/* Publish a version. A new artifact ceases to be a scratch file with its first version. */
static int publish_version(const struct place *at, struct artifact_save *s, bool replaces,
			   struct artifact_info *info, struct err *err)
{
	bool is_held = scratch_get(at->fs, at->item, NULL, NULL);
	bool is_new;
	int r;

	if (is_held)
		scratch_hold(at->fs, at->item);
	is_new = is_held && scratch_get(at->fs, at->item, NULL, NULL);
	s->must_be_there = !is_new && !at->n && !replaces;
	r = artifact_publish(at->fs->store, s, info, err);
	if (r == 0 && is_new)
		(void)scratch_remove(at->fs, at->item);
	if (is_held)
		scratch_let(at->fs, at->item);
	return r;
}

/* replaces: the name becomes that of the artifact at->item, even if another one has it. */
static int save_locked(struct draft *d, const struct place *at, struct ref via, bool replaces,
		       bool to_disk, struct err *err) REQUIRES(d->lock)
{
	const char *slash = strrchr(at->name, '/');
	CLEANUP(buf_release) struct buf via_name = { 0 };
	struct artifact_attr attr = { 0 };
	struct artifact_info info;
	char mime[128];
	struct artifact_save s = { .scope = at->ref,
				   .parent = at->parent,
				   .name = slash ? slash + 1 : at->name,
				   .full_name = at->name,
				   .blob = &d->blob,
				   .mime = mime,
				   .attr = &attr,
				   .number = at->item,
				   .replaces = replaces,
				   .version = d->version,
				   .version_number = d->version_number,
				   .event_session = via };
	int r = blob_settle(&d->blob, to_disk, err);

	if (atomic_exchange(&d->is_renamed, false))
		d->version = s.version = d->version_number = s.version_number = 0;
	if (r == 0)
		r = find_target(at, &s, &attr, err);
	if (r < 0)
		return r;
	mutex_lock(&d->attr_lock);
	attr_merge(&attr, &d->attr);
	mutex_unlock(&d->attr_lock);
	if (via.session) {
		buf_printf(&via_name, USER_PREFIX "%s", at->name);
		s.event_name = buf_cstr(&via_name);
	}
	guess_type_locked(d, s.name, mime, sizeof mime);
	r = publish_version(at, &s, replaces, &info, err);
	if (r < 0) /* the file was removed while it was open: save nothing */
		return r == -ESTALE && is_gone(at) ? 0 : r;
	blob_seal(&d->blob);
	d->version = info.saved;
	d->version_number = info.saved_number;
	d->is_written = d->is_cut = false;
	atomic_store(&d->is_saved, true);
	return 0;
}

int draft_publish(struct draft *d, const struct place *at, struct ref via, struct err *err)
{
	bool to_disk = store_durability(at->fs->store) == DURABILITY_DISK;
	int r = -EAGAIN;

	mutex_lock(&d->lock);
	if (!d->version)
		r = save_locked(d, at, via, !via.session, to_disk, err);
	mutex_unlock(&d->lock);
	return r;
}

void draft_end(struct draft *d)
{
	mutex_lock(&d->lock);
	d->is_over = true;
	mutex_unlock(&d->lock);
}

bool draft_is_written(struct draft *d)
{
	bool is_written;

	mutex_lock(&d->lock);
	is_written = d->is_written || d->is_cut;
	mutex_unlock(&d->lock);
	return is_written;
}

int draft_bytes(struct draft *d, const char *name, struct blob **blob, char *mime, size_t size,
		struct err *err)
{
	int r;

	mutex_lock(&d->lock);
	r = blob_settle(&d->blob, store_durability(d->blob.st) == DURABILITY_DISK, err);
	if (r == 0)
		guess_type_locked(d, name, mime, size);
	*blob = &d->blob;
	mutex_unlock(&d->lock);
	return r;
}

void draft_saved(struct draft *d)
{
	mutex_lock(&d->lock);
	blob_seal(&d->blob);
	mutex_unlock(&d->lock);
}

/* A close does not save scratch files (a rename does) or removed files. */
static bool can_be_saved(struct handle *h)
{
	return !(inode_place(h->inode)->type->flags & NODE_SCRATCH) &&
	       !atomic_load(&h->inode->gone);
}

/* Whether the last close saves the file even if nothing was written. */
static bool saves_at_last_locked(struct handle *h, struct draft *d) REQUIRES(d->lock)
{
	const struct place *at = inode_place(h->inode);
	struct scratch_info info;

	if (d->version)
		return false;
	if (d->is_cut && handle_writes(h))
		return true;
	return at->n ? h->created : scratch_get(at->fs, at->item, &info, NULL) && info.is_new;
}

/*
 * Save a draft that was written to. A shell closes a copy of the descriptor before the program
 * has written anything: such a flush saves nothing.
 */
int draft_flush(struct handle *h, struct err *err)
{
	struct opened *o = h->state;
	struct draft *d = o->draft;
	int r = 0;

	if (!d || !can_be_saved(h))
		return 0;
	mutex_lock(&d->lock);
	if (d->is_written && handle_writes(h))
		r = save_locked(d, inode_place(h->inode), h->via, false, wants_sync(h), err);
	else if (saves_at_last_locked(h, d))
		draft_start_closing_locked(h, d);
	mutex_unlock(&d->lock);
	return r;
}

/* Save what the flushes left: only the last close shows that a file is meant to be empty. */
static int save_at_last(struct handle *h, struct draft *d, struct err *err)
{
	const struct place *at = inode_place(h->inode);
	int r = 0;

	mutex_lock(&d->lock);
	if (atomic_load(&d->is_closing))
		closing_hold(at->item);
	if (can_be_saved(h) && ((d->is_written && handle_writes(h)) || saves_at_last_locked(h, d)))
		r = save_locked(d, at, h->via, false, wants_sync(h), err);
	draft_stop_closing_locked(h, d);
	mutex_unlock(&d->lock);
	if (r < 0 && h->created)
		(void)scratch_remove(at->fs, at->item);
	return r;
}

void draft_release(struct handle *h, struct err *err)
{
	struct opened *o = h->state;
	int r = o->draft ? save_at_last(h, o->draft, err) : 0;

	if (r < 0)
		err->code = r;
	handle_leave(h);
	if (handle_writes(h))
		atomic_fetch_sub(&h->inode->writers, 1);
	draft_unref(o->draft);
	blob_close(&o->view);
	free(o);
}

#define CLOSING_MAX 16

struct closing_drafts {
	struct draft *list[CLOSING_MAX];
	size_t count;
};

static void collect_closing(struct handle *h, void *arg)
{
	struct closing_drafts *c = arg;
	struct opened *o = h->state;

	if (o->draft && atomic_load(&o->draft->is_closing) && c->count < CLOSING_MAX)
		c->list[c->count++] = draft_ref(o->draft);
}

int draft_settle(const struct inode *inode, struct err *err)
{
	const struct place *at = inode_place(inode);
	struct closing_drafts c = { .count = 0 };
	struct ref none = { 0 };
	size_t i;
	int r = 0;

	handle_each(at->fs, inode->ino, collect_closing, &c);
	for (i = 0; i < c.count; i++) {
		struct draft *d = c.list[i];

		mutex_lock(&d->lock);
		if (r == 0 && atomic_load(&d->is_closing) && !d->version)
			r = save_locked(d, at, none, false, false, err);
		mutex_unlock(&d->lock);
		draft_unref(d);
	}
	return r;
}
