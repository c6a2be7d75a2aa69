/*
 * Streams: see stream.h.
 *
 * An open of a running turn references the live turn and follows it. An open of a
 * turn that has ended reads the text in the store.
 */
#include "fs/names/stream.h"

#include "fs/tree/handle.h"
#include "runner/live/live.h"
#include "runner/runner.h"
#include "store/turn/text.h"

#include <errno.h>

static int load_text(struct handle *h, uint64_t n,
		     int (*load)(struct store *, struct ref, const struct turn_info *, struct buf *,
				 struct err *),
		     struct turn_info *info, struct err *err)
{
	struct fs *fs = h->at.fs;
	int r = turn_stat(fs->store, h->at.ref, n, info, err);

	if (r == 0)
		r = load(fs->store, h->at.ref, info, &h->text, err);
	h->has_text = r == 0;
	return r;
}

/* Reference the live turn, or load the text of the turn from the store. */
static int open_turn(struct handle *h, uint64_t n, enum live_stream which, struct err *err)
{
	struct turn_info info = { 0 };
	int r;

	h->live = runner_live(h->at.fs->runner, h->at.ref, n);
	if (h->live)
		return 0;
	r = load_text(h, n, which == LIVE_OUTPUT ? turn_output : turn_events, &info, err);
	/* text_change != 0 marks the output of a failed turn, which ends with an error. */
	h->text_change = info.state == TURN_FAILED && which == LIVE_OUTPUT;
	return r;
}

static int turn_output_open(struct handle *h, struct err *err)
{
	return open_turn(h, h->at.n, LIVE_OUTPUT, err);
}

static int turn_stream_open(struct handle *h, struct err *err)
{
	return open_turn(h, h->at.n, LIVE_EVENTS, err);
}

static int session_output_open(struct handle *h, struct err *err)
{
	struct scope_info info;
	int r = scope_stat(h->at.fs->store, h->at.ref, &info, err);

	if (r < 0 || !info.turns)
		return r; /* a session without turns has an empty answer */
	return open_turn(h, info.turns, LIVE_OUTPUT, err);
}

static int follow(struct handle *h, enum live_stream which, uint64_t offset, size_t size,
		  struct buf *out)
{
	if (h->live)
		return live_read(h->live, which, offset, size, out);
	if (offset < h->text.len)
		buf_add(out, h->text.data + offset, MIN(size, h->text.len - offset));
	else if (h->text_change)
		return -EIO;
	return buf_check(out, NULL);
}

static int output_follow(struct handle *h, uint64_t offset, size_t size, struct buf *out,
			 struct err *err)
{
	(void)err;
	return follow(h, LIVE_OUTPUT, offset, size, out);
}

static int stream_follow(struct handle *h, uint64_t offset, size_t size, struct buf *out,
			 struct err *err)
{
	(void)err;
	return follow(h, LIVE_EVENTS, offset, size, out);
}

const struct file_ops session_output_ops = { .open = session_output_open, .follow = output_follow };
const struct file_ops turn_output_ops = { .open = turn_output_open, .follow = output_follow };
const struct file_ops turn_stream_ops = { .open = turn_stream_open, .follow = stream_follow };

static uint64_t size_of(const struct place *at, uint64_t n, enum live_stream which, uint64_t stored)
{
	struct live *live = runner_live(at->fs->runner, at->ref, n);
	uint64_t size = live ? live_size(live, which) : stored;

	live_unref(live);
	return size;
}

uint64_t stream_output_size(const struct place *at, const struct turn_info *info)
{
	return size_of(at, info->n, LIVE_OUTPUT, info->output_size);
}

uint64_t stream_events_size(const struct place *at, const struct turn_info *info)
{
	return size_of(at, info->n, LIVE_EVENTS, info->bytes);
}

int stream_status(const struct place *at, struct buf *out, struct err *err)
{
	struct turn_info turn;
	struct scope_info session;
	unsigned long long n;
	int r = turn_current(at->fs->store, at->ref, &turn, err);

	if (r == 0) {
		n = turn.n;
		buf_printf(out, "%s %llu\n", turn.state == TURN_RUNNING ? "running" : "queued", n);
		return 0;
	}
	if (r == -ENOENT)
		r = scope_stat(at->fs->store, at->ref, &session, err);
	if (r == 0 && session.turns)
		r = turn_stat(at->fs->store, at->ref, session.turns, &turn, err);
	if (r < 0)
		return r;
	n = session.turns;
	if (n && turn.state == TURN_FAILED)
		buf_printf(out, "failed %llu\n", n);
	else
		buf_text(out, "idle\n");
	return buf_check(out, err);
}

static int wait_follow(struct handle *h, uint64_t offset, size_t size, struct buf *out,
		       struct err *err)
{
	struct turn_info turn;
	int r = 0;

	mutex_lock(&h->lock);
	if (!h->has_text) {
		r = turn_current(h->at.fs->store, h->at.ref, &turn, err);
		/* A compaction is not a turn, but may follow a turn and is waited for too. */
		if (r == 0 || (r == -ENOENT && runner_is_busy(h->at.fs->runner, h->at.ref)))
			r = -EAGAIN;
		else if (r == -ENOENT)
			r = stream_status(&h->at, &h->text, err);
		h->has_text = r == 0;
	}
	if (r == 0 && offset < h->text.len)
		buf_add(out, h->text.data + offset, MIN(size, h->text.len - offset));
	mutex_unlock(&h->lock);
	return r;
}

const struct file_ops session_wait_ops = { .follow = wait_follow };
