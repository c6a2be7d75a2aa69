/*
 * A live turn: see live.h and the end of runner.h.
 */
#include "runner/live.h"

#include <errno.h>
#include <stdlib.h>

struct live *live_new(struct ref ref, const struct turn_info *info, struct err *err)
{
	struct live *live = calloc(1, sizeof *live);

	if (!live) {
		(void)err_nomem(err);
		return NULL;
	}
	live->ref = ref;
	live->n = info->n;
	live->number = info->number;
	live->refs = 1;
	memcpy(live->invocation, info->invocation, sizeof live->invocation);
	if (cancel_init(&live->cancel, err) < 0) {
		free(live);
		return NULL;
	}
	mutex_init(&live->lock);
	return live;
}

struct live *live_ref(struct live *live)
{
	atomic_fetch_add(&live->refs, 1);
	return live;
}

void live_unref(struct live *live)
{
	if (!live || atomic_fetch_sub(&live->refs, 1) != 1)
		return;
	cancel_release(&live->cancel);
	buf_release(&live->temp);
	mutex_release(&live->lock);
	buf_release(&live->text[LIVE_OUTPUT]);
	buf_release(&live->text[LIVE_EVENTS]);
	free(live);
}

void live_add(struct live *live, enum live_stream which, struct span text)
{
	mutex_lock(&live->lock);
	buf_span_add(&live->text[which], text);
	mutex_unlock(&live->lock);
}

void live_end(struct live *live, bool failed)
{
	mutex_lock(&live->lock);
	live->ended = true;
	live->failed = failed;
	mutex_unlock(&live->lock);
}

int live_read(struct live *live, enum live_stream which, uint64_t offset, size_t size,
	      struct buf *out)
{
	struct buf *text = &live->text[which];
	int r = 0;

	mutex_lock(&live->lock);
	if (text->failed)
		r = -ENOMEM;
	else if (offset < text->len)
		buf_add(out, text->data + offset, MIN(size, text->len - offset));
	else if (!live->ended)
		r = -EAGAIN;
	else
		r = live->failed && which == LIVE_OUTPUT ? -EIO : 1;
	mutex_unlock(&live->lock);
	return r;
}

uint64_t live_size(struct live *live, enum live_stream which)
{
	uint64_t size;

	mutex_lock(&live->lock);
	size = live->text[which].len;
	mutex_unlock(&live->lock);
	return size;
}
