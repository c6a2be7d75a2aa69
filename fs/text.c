/*
 * Text files: see text.h.
 */
#include "fs/text.h"

#include <errno.h>
#include <stdlib.h>

struct text_draft {
	const struct text_rules *rules;
	struct buf text;
	bool loaded;  /* text starts from the old one, or from nothing by truncation */
	bool changed; /* since the last flush */
	bool refused; /* a write failed: the rest of the open is not to be taken as a text */
};

int text_open(struct handle *h, const struct text_rules *rules, struct err *err)
{
	struct text_draft *d;

	if (!handle_writes(h))
		return 0;
	d = calloc(1, sizeof *d);
	if (!d)
		return err_nomem(err);
	d->rules = rules;
	d->loaded = rules->starts_empty || (h->flags & O_TRUNC);
	h->state = d;
	return 0;
}

/* Writes in the middle of a text, or behind it, start from the old one. */
static int load(struct handle *h, struct text_draft *d, struct err *err)
{
	int r;

	if (d->loaded)
		return 0;
	r = h->at.type->show(&h->at, &d->text, err);
	if (r == -ENOENT)
		r = 0;
	d->loaded = r == 0;
	return r;
}

static int put_bytes(struct text_draft *d, uint64_t offset, struct span data, struct err *err)
{
	if (offset > d->rules->max || data.len > d->rules->max - offset)
		return err_set(err, -EFBIG, "%s may have %zu bytes", d->rules->what,
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

ssize_t text_write(struct handle *h, uint64_t offset, struct span data, struct err *err)
{
	struct text_draft *d = h->state;
	int r;

	mutex_lock(&h->lock);
	r = load(h, d, err);
	if (r == 0 && offset == NODE_APPEND)
		offset = d->text.len;
	if (r == 0)
		r = put_bytes(d, offset, data, err);
	if (r == 0) {
		r = d->rules->check(h, buf_span(&d->text), err);
		if (r == -ENODATA)
			r = 0; /* more may come, and the close will tell */
	}
	d->changed |= r == 0;
	d->refused |= r < 0;
	mutex_unlock(&h->lock);
	return r < 0 ? r : (ssize_t)data.len;
}

int text_truncate(struct handle *h, uint64_t size, struct err *err)
{
	struct text_draft *d = h->state;
	int r = 0;

	mutex_lock(&h->lock);
	if (size > d->rules->max)
		r = err_set(err, -EFBIG, "%s may have %zu bytes", d->rules->what,
			    d->rules->max - 1);
	else if (size == 0)
		d->loaded = true;
	else
		r = load(h, d, err);
	if (r == 0 && size < d->text.len) {
		d->text.len = size;
		d->changed |= size > 0;
	}
	mutex_unlock(&h->lock);
	return r;
}

/* A complete text is set; an incomplete one is an error and stays. */
int text_flush(struct handle *h, struct err *err)
{
	struct text_draft *d = h->state;
	int r = 0;

	if (!d)
		return 0;
	mutex_lock(&h->lock);
	if (d->changed && !d->refused) {
		r = d->rules->set(h, buf_span(&d->text), err);
		d->changed = r < 0;
	}
	mutex_unlock(&h->lock);
	return r;
}

void text_release(struct handle *h, struct err *err)
{
	struct text_draft *d = h->state;

	(void)err;
	if (!d)
		return;
	buf_release(&d->text);
	free(d);
}
