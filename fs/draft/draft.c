/*
 * Drafts: see draft.h. This file has the draft by itself; file.c has the
 * operations of an open file.
 */
#include "fs/draft/inside.h"

#include <errno.h>
#include <stdlib.h>

struct draft *draft_new(struct store *st,
			bool is_new) NO_THREAD_ANALYSIS /* no other thread has it */
{
	struct draft *d = calloc(1, sizeof *d);

	if (!d)
		return NULL;
	atomic_init(&d->refs, 1);
	mutex_init(&d->lock);
	mutex_init(&d->attr_lock);
	blob_init(&d->blob, st);
	atomic_init(&d->is_based, is_new);
	return d;
}

struct draft *draft_ref(struct draft *d)
{
	if (d)
		atomic_fetch_add(&d->refs, 1);
	return d;
}

void draft_unref(struct draft *d) NO_THREAD_ANALYSIS /* no other reference is left */
{
	if (!d || atomic_fetch_sub(&d->refs, 1) != 1)
		return;
	blob_close(&d->blob);
	mutex_release(&d->attr_lock);
	mutex_release(&d->lock);
	free(d);
}

uint64_t draft_length(struct draft *d)
{
	return atomic_load(&d->length);
}

void draft_measure_locked(struct draft *d)
{
	atomic_store(&d->length, d->blob.size);
}

int draft_text(struct draft *d, size_t max, struct buf *out, struct err *err)
{
	int r;

	mutex_lock(&d->lock);
	if (d->blob.size > max)
		r = err_set(err, -EFBIG, "the file is longer than %zu bytes", max);
	else
		r = blob_read(&d->blob, 0, max, out, err);
	mutex_unlock(&d->lock);
	return r;
}

int draft_put_text(struct draft *d, struct span text, struct err *err)
{
	int r;

	mutex_lock(&d->lock);
	r = blob_write(&d->blob, 0, text, err);
	draft_measure_locked(d);
	mutex_unlock(&d->lock);
	return r;
}

int draft_load(struct draft *d, uint64_t history, uint64_t n, struct err *err)
{
	int r;

	mutex_lock(&d->lock);
	r = artifact_blob(d->blob.st, history, n, &d->blob, NULL, err);
	draft_measure_locked(d);
	atomic_store(&d->is_based, r == 0);
	mutex_unlock(&d->lock);
	return r;
}
