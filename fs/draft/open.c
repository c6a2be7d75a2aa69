/*
 * The bytes that an open file shows (the stored ones, or its draft's), and the
 * wait of others for its last close. See inside.h.
 */
#include "fs/draft/inside.h"

#include "fs/tree/closing.h"
#include "fs/tree/handle.h"

#include <errno.h>

int draft_load_stored(const struct place *at, struct blob *blob, struct err *err)
{
	struct artifact_info info;
	int tries;
	int r = -ENOENT;

	if (at->type->load)
		return at->type->load(at, blob, err);
	if (at->n)
		return artifact_blob(at->fs->store, at->parent, at->n, blob, NULL, err);
	/* Between the two calls the file may be saved, or the latest version deleted: try again. */
	for (tries = 0; tries < 3 && r == -ENOENT; tries++) {
		bool pending = at->inode && atomic_load(&at->inode->pending);

		r = artifact_stat(at->fs->store, at->parent, at->item, &info, err);
		if (r < 0 && !pending)
			return r;
		if (r == 0)
			r = artifact_blob(at->fs->store, info.history, info.latest, blob, NULL,
					  err);
	}
	return r;
}

/* All opens share the page cache, so each of them must read the present version. */
int draft_refresh_view(struct handle *h, struct opened *o, struct err *err)
{
	uint64_t change = atomic_load(&h->inode->change);
	struct blob fresh;
	int r;

	if (o->has_view && o->change == change)
		return 0;
	blob_init(&fresh, h->at.fs->store);
	r = draft_load_stored(inode_place(h->inode), &fresh, err);
	if (r == -ENOENT && (o->has_view || atomic_load(&h->inode->pending))) {
		o->change = change; /* the file was removed: its opens keep their bytes */
		o->has_view = true;
		return 0;
	}
	if (r < 0)
		return r;
	blob_close(&o->view);
	o->view = fresh;
	o->change = change;
	o->has_view = true;
	atomic_store(&o->view_size, fresh.size);
	return 0;
}

bool draft_own_size(const struct handle *h, uint64_t *size)
{
	const struct opened *o = h->state;

	if (!o->draft || !atomic_load(&o->draft->is_based))
		return false;
	*size = draft_length(o->draft);
	return true;
}

/* The kernel may report the last close late: once the draft is saved, the stored size counts. */
bool draft_size(struct handle *h, uint64_t *size)
{
	const struct opened *o = h->state;

	return draft_own_size(h, size) && !atomic_load(&o->draft->is_saved);
}

void draft_start_closing_locked(struct handle *h, struct draft *d) REQUIRES(d->lock)
{
	if (atomic_exchange(&d->is_closing, true))
		return;
	closing_begin(inode_place(h->inode)->item);
}

void draft_stop_closing_locked(struct handle *h, struct draft *d) REQUIRES(d->lock)
{
	const struct place *at = inode_place(h->inode);

	if (!atomic_exchange(&d->is_closing, false))
		return;
	closing_end(at->item);
	park_wake(&at->fs->park, ref_number(at->ref));
}
