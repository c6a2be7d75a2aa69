/*
 * Handles: see handle.h.
 */
#include "fs/tree/handle.h"

#include "fs/tree/ids.h"
#include "fs/tree/tree.h"
#include "runner/live/live.h"
#include "runner/runner.h"

#include <errno.h>
#include <stdlib.h>

static void link_handle(struct handle *h)
{
	struct fs *fs = h->at.fs;

	mutex_lock(&fs->handles_lock);
	h->next = fs->handles;
	if (h->next)
		h->next->prev = h;
	fs->handles = h;
	mutex_unlock(&fs->handles_lock);
}

static void unlink_handle(struct handle *h)
{
	struct fs *fs = h->at.fs;

	mutex_lock(&fs->handles_lock);
	if (h->next)
		h->next->prev = h->prev;
	if (h->prev)
		h->prev->next = h->next;
	else
		fs->handles = h->next;
	mutex_unlock(&fs->handles_lock);
}

struct handle *handle_new(struct inode *inode, int flags, uid_t caller)
{
	struct handle *h = calloc(1, sizeof *h);

	if (!h)
		return NULL;
	h->inode = inode;
	h->at = *inode_place(inode);
	h->flags = flags;
	h->caller = caller;
	mutex_init(&h->lock);
	link_handle(h);
	return h;
}

void handle_free(struct handle *h)
{
	if (!h)
		return;
	unlink_handle(h);
	live_unref(h->live);
	buf_release(&h->text);
	mutex_release(&h->lock);
	free(h->via_name);
	free(h);
}

void handle_close(struct handle *h, struct err *err)
{
	if (h->ops && h->ops->release)
		h->ops->release(h, err);
	handle_free(h);
}

void handle_each(struct fs *fs, uint64_t ino, handle_fn *fn, void *arg)
{
	struct handle *h;

	mutex_lock(&fs->handles_lock);
	for (h = fs->handles; h; h = h->next) {
		if ((ino == HANDLES_ALL || h->inode->ino == ino) && atomic_load(&h->is_open))
			fn(h, arg);
	}
	mutex_unlock(&fs->handles_lock);
}

void handle_leave(struct handle *h)
{
	struct fs *fs = h->at.fs;

	mutex_lock(&fs->handles_lock);
	atomic_store(&h->is_open, false);
	mutex_unlock(&fs->handles_lock);
}

static void note_removed(struct handle *h, void *arg)
{
	(void)arg;
	if (h->ops && h->ops->removed)
		h->ops->removed(h);
}

void handle_removed(struct fs *fs, uint64_t ino)
{
	handle_each(fs, ino, note_removed, NULL);
}

struct making {
	uint64_t dir;
	const char *name;
	uint64_t ino; /* 0: not found */
};

static void look_for_made(struct handle *h, void *arg)
{
	struct making *m = arg;
	const struct spot *spot = inode_spot(h->inode);

	if (h->created && h->ops && h->ops->removed && spot->parent == m->dir &&
	    !strcmp(spot->file_name, m->name) && !atomic_load(&h->inode->gone))
		m->ino = h->inode->ino;
}

uint64_t handle_find_made(struct fs *fs, uint64_t dir, const char *name)
{
	struct making m = { .dir = dir, .name = name };

	handle_each(fs, HANDLES_ALL, look_for_made, &m);
	return m.ino;
}

bool handle_remove_made(struct fs *fs, uint64_t dir, const char *name)
{
	uint64_t ino = handle_find_made(fs, dir, name);

	if (!ino)
		return false;
	handle_removed(fs, ino);
	inode_removed(&fs->inodes, ino);
	return true;
}

void handle_close_all(struct fs *fs) NO_THREAD_ANALYSIS /* no other thread is left */
{
	struct err err = { 0 };

	while (fs->handles)
		handle_close(fs->handles, &err);
}

/*
 * Show the text again if the file changed since the last show. Reads through the page cache
 * must see the present text, since all opens share the pages; a direct handle keeps one text
 * from its read at offset 0 on.
 */
static int refresh_locked(struct handle *h, uint64_t offset, struct err *err) REQUIRES(h->lock)
{
	uint64_t change = atomic_load(&h->inode->change);
	bool has_news = h->text_change != change || (h->at.type->flags & NODE_FRESH);
	CLEANUP(buf_release) struct buf text = { 0 };
	int r;

	if (h->has_text && (!has_news || (h->direct && offset) ||
			    atomic_load(&h->inode->gone))) /* a removed file cannot be shown */
		return 0;
	r = h->at.type->show(&h->at, &text, err);
	if (r == 0)
		r = buf_check(&text, err);
	if (r < 0)
		return r;
	buf_release(&h->text);
	h->text = text;
	text = (struct buf){ 0 };
	h->has_text = true;
	h->text_change = change;
	return 0;
}

int handle_read_shown(struct handle *h, uint64_t offset, size_t size, struct buf *out,
		      struct err *err)
{
	int r;

	if (h->at.type->flags & NODE_VOLATILE)
		return tree_read_volatile(h->inode, offset, size, out, err);
	mutex_lock(&h->lock);
	r = refresh_locked(h, offset, err);
	if (r == 0 && offset < h->text.len)
		buf_add(out, h->text.data + offset, MIN(size, h->text.len - offset));
	mutex_unlock(&h->lock);
	return r < 0 ? r : buf_check(out, err);
}

uint64_t handle_error_place(const struct place *at)
{
	return ref_number(at->ref);
}

void handle_error_name(struct fs *fs, const struct inode *inode, const char *child, struct buf *out)
{
	CLEANUP(buf_release) struct buf path = { 0 };
	uint64_t scope = node_ino(ref_number(inode_place(inode)->ref), ID_OBJECT);

	buf_text(&path, child ? child : "");
	while (inode && inode->ino != scope && inode_spot(inode)->file_name) {
		const struct spot *spot = inode_spot(inode);
		CLEANUP(buf_release) struct buf rest = { 0 };

		buf_span_add(&rest, buf_span(&path));
		buf_clear(&path);
		buf_text(&path, spot->file_name);
		if (rest.len)
			buf_char(&path, '/');
		buf_span_add(&path, buf_span(&rest));
		inode = inode_find(&fs->inodes, spot->parent);
	}
	buf_span_add(out, buf_span(&path));
}
