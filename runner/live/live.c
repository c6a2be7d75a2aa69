/*
 * A live turn: see live.h.
 */
#include "runner/live/live.h"

#include <errno.h>
#include <stdlib.h>

/* An event whose predecessors have not arrived. */
struct late {
	struct late *next;
	uint64_t bytes; /* of the turn's lines with it */
	struct buf text[2];
};

static uint64_t late_from(const struct late *late)
{
	return late->bytes - late->text[LIVE_EVENTS].len;
}

static void late_free(struct late *late)
{
	if (!late)
		return;
	buf_release(&late->text[LIVE_OUTPUT]);
	buf_release(&late->text[LIVE_EVENTS]);
	free(late);
}

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
	live->shown = info->bytes;
	live->refs = 1;
	memcpy(live->invocation, info->invocation, sizeof live->invocation);
	if (cancel_init(&live->cancel, err) < 0) {
		free(live);
		return NULL;
	}
	mutex_init(&live->lock);
	cond_init(&live->listened);
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
	cond_release(&live->listened);
	while (live->late) {
		struct late *late = live->late;

		live->late = late->next;
		late_free(late);
	}
	buf_release(&live->text[LIVE_OUTPUT]);
	buf_release(&live->text[LIVE_EVENTS]);
	free(live);
}

/* The text has grown: a reader that waited now reads, and will wait again. */
static void note_reader_locked(struct live *live) REQUIRES(live->lock)
{
	if (live->awaited)
		live->unread = 0;
	live->awaited = false;
}

static void await_locked(struct live *live) REQUIRES(live->lock)
{
	live->awaited = true;
	cond_wake_all(&live->listened);
}

void live_add(struct live *live, enum live_stream which, struct span text)
{
	mutex_lock(&live->lock);
	buf_span_add(&live->text[which], text);
	note_reader_locked(live);
	mutex_unlock(&live->lock);
}

void live_throttle(struct live *live)
{
	uint64_t until;

	mutex_lock(&live->lock);
	if (live->unread < LIVE_THROTTLE_AFTER) {
		live->unread++;
	} else {
		until = clock_monotonic() + LIVE_THROTTLE_NS;
		while (!live->awaited && cond_wait_until(&live->listened, &live->lock, until))
			;
	}
	mutex_unlock(&live->lock);
}

void live_cancel(struct live *live)
{
	cancel_fire(&live->cancel);
	mutex_lock(&live->lock);
	await_locked(live);
	mutex_unlock(&live->lock);
}

static void show_locked(struct live *live, uint64_t bytes, struct span line, struct span output)
	REQUIRES(live->lock)
{
	buf_span_add(&live->text[LIVE_EVENTS], line);
	buf_span_add(&live->text[LIVE_OUTPUT], output);
	live->shown = MAX(live->shown, bytes);
}

/* Show late events whose predecessors have arrived; with `all`, every late event. */
static void show_late_locked(struct live *live, bool all) REQUIRES(live->lock)
{
	struct late *late;

	while ((late = live->late) && (all || late_from(late) <= live->shown)) {
		live->late = late->next;
		show_locked(live, late->bytes, buf_span(&late->text[LIVE_EVENTS]),
			    buf_span(&late->text[LIVE_OUTPUT]));
		late_free(late);
	}
}

/* Hold an event back until its predecessors are there. False: out of memory. */
static bool hold_locked(struct live *live, uint64_t bytes, struct span line, struct span output)
	REQUIRES(live->lock)
{
	struct late *late = calloc(1, sizeof *late);
	struct late **at = &live->late;

	if (!late)
		return false;
	late->bytes = bytes;
	buf_span_add(&late->text[LIVE_EVENTS], line);
	buf_span_add(&late->text[LIVE_OUTPUT], output);
	if (late->text[LIVE_EVENTS].failed || late->text[LIVE_OUTPUT].failed) {
		late_free(late);
		return false;
	}
	while (*at && (*at)->bytes < bytes)
		at = &(*at)->next;
	late->next = *at;
	*at = late;
	return true;
}

void live_add_event(struct live *live, uint64_t bytes, struct span line, struct span output)
{
	mutex_lock(&live->lock);
	if (bytes - line.len <= live->shown || !hold_locked(live, bytes, line, output))
		show_locked(live, bytes, line, output);
	show_late_locked(live, false);
	mutex_unlock(&live->lock);
}

void live_end(struct live *live, bool failed)
{
	mutex_lock(&live->lock);
	show_late_locked(live, true);
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
	else if (live->ended)
		r = live->failed && which == LIVE_OUTPUT ? -EIO : 1;
	else
		r = -EAGAIN;
	if (r == -EAGAIN)
		await_locked(live);
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
