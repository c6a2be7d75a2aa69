/*
 * Text files: see text.h.
 */
#include "fs/draft/text.h"

#include "fs/tree/closing.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

struct text_draft {
	const struct text_rules *rules;
	struct buf text;
	bool loaded;  /* text has the old one, or was truncated */
	bool changed; /* since the last flush */
	bool refused; /* a write failed: no close sets the text any more */
	bool cut;     /* the open emptied the file */
	bool set;     /* the text was set at least once */
	bool closing; /* others wait for the last close */
	atomic_bool removed;
	_Atomic uint64_t length; /* read without the lock; NO_LENGTH: the stored size counts */
};

#define NO_LENGTH UINT64_MAX

static void note_length(struct text_draft *d)
{
	bool own = d->loaded && (d->changed || !d->set);

	atomic_store(&d->length, own ? d->text.len : NO_LENGTH);
}

static int text_open(struct handle *h, struct err *err)
{
	const struct text_rules *rules = h->at.type->text;
	struct text_draft *d;
	int r = rules->open ? rules->open(h, err) : 0;

	if (r < 0 || !handle_writes(h))
		return r;
	d = calloc(1, sizeof *d);
	if (!d)
		return err_nomem(err);
	d->rules = rules;
	d->cut = h->flags & O_TRUNC;
	d->loaded = rules->starts_empty || d->cut;
	note_length(d);
	h->state = d;
	if (rules->is_bytes)
		atomic_fetch_add(&h->inode->writers, 1);
	return 0;
}

/* Whether the last close sets an empty text: the file was only made or emptied. */
static bool sets_at_last(const struct handle *h, const struct text_draft *d)
{
	return d->rules->is_bytes && !d->changed && !d->set && (d->cut || h->created);
}

/*
 * The last close usually follows at once: others that open a file of the session, or ask for the
 * size of this file, wait for it (tree/closing.h).
 */
static void start_closing(struct handle *h, struct text_draft *d)
{
	if (d->closing)
		return;
	closing_begin(h->at.item);
	closing_begin(h->at.ref.session);
	d->closing = true;
}

static void stop_closing(struct handle *h, struct text_draft *d)
{
	if (!d->closing)
		return;
	closing_end(h->at.item);
	closing_end(h->at.ref.session);
	park_wake(&h->at.fs->park, h->at.ref.session);
	d->closing = false;
}

/* Load the old text, which a write changes a part of. */
static int load_old(struct handle *h, struct text_draft *d, struct err *err)
{
	int r;

	if (d->loaded)
		return 0;
	r = h->at.type->show(&h->at, &d->text, err);
	if (r == -ENOENT) { /* the file was removed: use the text that this open has read, if any */
		buf_span_add(&d->text, buf_span(&h->text));
		r = buf_check(&d->text, err);
	}
	d->loaded = r == 0;
	return r;
}

static int put_bytes(struct text_draft *d, uint64_t offset, struct span data, struct err *err)
{
	if (offset > d->rules->max || data.len > d->rules->max - offset)
		return err_set(err, -EFBIG, "%s can be at most %zu bytes long", d->rules->what,
			       d->rules->max - 1);
	if (offset + data.len > d->text.len) {
		size_t gap = offset + data.len - d->text.len;

		if (!buf_reserve(&d->text, gap))
			return err_nomem(err);
		memset(d->text.data + d->text.len, 0, gap);
		d->text.len += gap;
	}
	memcpy(d->text.data + offset, data.data, data.len);
	return 0;
}

static ssize_t text_write(struct handle *h, uint64_t offset, struct span data, struct err *err)
{
	struct text_draft *d = h->state;
	int r;

	mutex_lock(&h->lock);
	stop_closing(h, d);
	r = load_old(h, d, err);
	if (r == 0 && offset == NODE_APPEND)
		offset = d->text.len;
	if (r == 0)
		r = put_bytes(d, offset, data, err);
	if (r == 0) {
		r = d->rules->check(h, buf_span(&d->text), err);
		if (r == -ENODATA)
			r = 0; /* more may come; the close decides */
	}
	d->changed |= r == 0;
	d->refused |= r < 0;
	note_length(d);
	mutex_unlock(&h->lock);
	return r < 0 ? r : (ssize_t)data.len;
}

/* Resize a text of any bytes: cut it off, or append zeros. */
static int resize_text(struct handle *h, struct text_draft *d, uint64_t size, struct err *err)
{
	size_t before = d->text.len;
	int r = 0;

	if (size > before) {
		r = put_bytes(d, size, SPAN(""), err);
		if (r == 0)
			r = d->rules->check(h, buf_span(&d->text), err);
	}
	d->text.len = r < 0 ? before : size;
	d->changed |= r == 0;
	return r;
}

static int text_truncate(struct handle *h, uint64_t size, struct err *err)
{
	struct text_draft *d = h->state;
	int r = 0;

	mutex_lock(&h->lock);
	if (size > d->rules->max)
		r = err_set(err, -EFBIG, "%s can be at most %zu bytes long", d->rules->what,
			    d->rules->max - 1);
	else if (size == 0)
		d->loaded = true;
	else
		r = load_old(h, d, err);
	if (r == 0 && d->rules->is_bytes) {
		r = resize_text(h, d, size, err);
	} else if (r == 0 && size < d->text.len) {
		d->text.len = size;
		d->changed |= size > 0;
	}
	note_length(d);
	mutex_unlock(&h->lock);
	return r;
}

static int set_locked(struct handle *h, struct text_draft *d, struct err *err)
{
	int r = d->rules->set(h, buf_span(&d->text), err);

	d->changed = r < 0;
	d->set |= r == 0;
	note_length(d);
	return r;
}

/* Set a complete text; an incomplete one is an error, and the draft stays. */
static int text_flush(struct handle *h, struct err *err)
{
	struct text_draft *d = h->state;
	int r = 0;

	if (!d || atomic_load(&d->removed))
		return 0;
	mutex_lock(&h->lock);
	if (d->changed && !d->refused)
		r = set_locked(h, d, err);
	else if (!d->refused && sets_at_last(h, d))
		start_closing(h, d);
	mutex_unlock(&h->lock);
	return r;
}

/* Set bytes that a mapping wrote after the last flush, or an empty file. */
static void set_at_last(struct handle *h, struct text_draft *d, struct err *err)
{
	int r = 0;

	mutex_lock(&h->lock);
	if (d->closing) {
		closing_hold(h->at.item);
		closing_hold(h->at.ref.session);
	}
	if (!d->refused && !atomic_load(&d->removed) && (d->changed || sets_at_last(h, d)))
		r = set_locked(h, d, err);
	stop_closing(h, d);
	mutex_unlock(&h->lock);
	if (r < 0)
		err->code = r;
}

static void text_release(struct handle *h, struct err *err)
{
	struct text_draft *d = h->state;

	if (!d)
		return;
	if (d->rules->is_bytes) {
		set_at_last(h, d, err);
		handle_leave(h);
		atomic_fetch_sub(&h->inode->writers, 1);
	}
	buf_release(&d->text);
	free(d);
}

int text_read(struct handle *h, uint64_t offset, size_t size, struct buf *out, struct err *err)
{
	struct text_draft *d = h->state;
	bool own = false;

	mutex_lock(&h->lock);
	if (d && d->loaded) {
		own = true;
		if (offset < d->text.len)
			buf_add(out, d->text.data + offset, MIN(size, d->text.len - offset));
	}
	mutex_unlock(&h->lock);
	return own ? buf_check(out, err) : handle_read_shown(h, offset, size, out, err);
}

static bool text_draft_size(struct handle *h, uint64_t *size)
{
	struct text_draft *d = h->state;
	uint64_t length = d ? atomic_load(&d->length) : NO_LENGTH;

	if (length == NO_LENGTH || !d->rules->is_bytes)
		return false;
	*size = length;
	return true;
}

static void text_removed(struct handle *h)
{
	struct text_draft *d = h->state;

	if (d)
		atomic_store(&d->removed, true);
}

const struct file_ops text_ops = {
	.open = text_open,
	.write = text_write,
	.truncate = text_truncate,
	.draft_size = text_draft_size,
	.flush = text_flush,
	.release = text_release,
	.removed = text_removed,
};
