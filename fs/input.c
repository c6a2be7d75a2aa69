/*
 * input: see input.h.
 *
 * A write adds to the message and is refused if it breaks it; the flush of a
 * close puts what is new on disk; the release of the last descriptor submits
 * it. Offsets mean nothing.
 */
#include "fs/input.h"

#include "base/name.h"
#include "fs/closing.h"
#include "fs/handle.h"
#include "runner/runner.h"

#include <errno.h>
#include <stdlib.h>

struct message {
	struct buf text;
	size_t staged;   /* bytes that are on disk */
	uint64_t number; /* of the staged message; 0: nothing is staged */
	uint64_t pieces;
	bool closing; /* other opens wait for this one */
	bool refused; /* a write failed: half a message is none */
};

static int input_open(struct handle *h, struct err *err)
{
	struct fs *fs = h->at.fs;
	struct ref app = { .app = h->at.ref.app };
	struct scope_info info;
	int r;

	if (!handle_writes(h))
		return 0;
	r = scope_stat(fs->store, app, &info, err);
	if (r == 0)
		r = runner_check(fs->runner, h->at.ref, info.id, err);
	if (r < 0)
		return r;
	h->state = calloc(1, sizeof(struct message));
	return h->state ? 0 : err_nomem(err);
}

static ssize_t input_write(struct handle *h, uint64_t offset, struct span data, struct err *err)
{
	struct message *m = h->state;
	size_t before;
	struct span tail;
	bool cut = false;
	int r = 0;

	(void)offset;
	mutex_lock(&h->lock);
	before = m->text.len;
	if (before + data.len > MESSAGE_MAX)
		r = err_set(err, -EFBIG, "a message may have %u bytes", MESSAGE_MAX);
	else
		buf_span_add(&m->text, data);
	if (r == 0)
		r = buf_check(&m->text, err);
	if (r == 0) {
		/* A character may begin in the write before, at most three bytes back. */
		size_t from = before > 3 ? before - 3 : 0;

		while (from < before && ((unsigned char)m->text.data[from] & 0xc0) == 0x80)
			from++;
		tail = span_sub(buf_span(&m->text), from, m->text.len);
		if (name_utf8_prefix(tail, &cut) != tail.len && !cut)
			r = err_set(err, -EINVAL, "the message is not valid UTF-8");
	}
	if (r < 0)
		m->text.len = before;
	m->refused |= r < 0;
	mutex_unlock(&h->lock);
	return r < 0 ? r : (ssize_t)data.len;
}

static int stage(struct handle *h, struct message *m, struct err *err)
{
	struct store *st = h->at.fs->store;
	struct span fresh = span_sub(buf_span(&m->text), m->staged, m->text.len);
	int r;

	if (!name_is_utf8(buf_span(&m->text)))
		return err_set(err, -EINVAL, "the message ends within a character");
	if (!m->number)
		m->number = store_new_number(st, err);
	if (!m->number)
		return -EIO;
	r = message_stage(st, h->at.ref, m->number, m->pieces, fresh, err);
	if (r < 0)
		return r;
	m->pieces += (fresh.len + ENGINE_VALUE_MAX - 1) / ENGINE_VALUE_MAX;
	m->staged = m->text.len;
	return 0;
}

static int input_flush(struct handle *h, struct err *err)
{
	struct message *m = h->state;
	int r = 0;

	if (!m)
		return 0;
	mutex_lock(&h->lock);
	if (m->text.len > m->staged && !m->refused)
		r = stage(h, m, err);
	if (r == 0 && m->staged) { /* the wait is counted from the latest flush */
		if (m->closing)
			closing_end(h->at.ref.session);
		closing_begin(h->at.ref.session);
		m->closing = true;
	}
	mutex_unlock(&h->lock);
	return r;
}

/* What the shell puts behind a line is not part of the message. */
static struct span without_newline(struct span text)
{
	if (text.len && text.data[text.len - 1] == '\n')
		text.len--;
	if (text.len && text.data[text.len - 1] == '\r')
		text.len--;
	return text;
}

static int submit(struct handle *h, struct message *m, struct err *err)
{
	struct span text = without_newline(buf_span(&m->text));
	struct content *content;
	int r;

	if (!text.len || m->refused || !name_is_utf8(text))
		return m->number ? message_drop(h->at.fs->store, m->number, err) : 0;
	content = content_new("user");
	if (!content || content_add_text(content, text, false) < 0) {
		content_free(content);
		return err_nomem(err);
	}
	r = runner_submit(h->at.fs->runner, h->at.ref, m->number, content, err);
	content_free(content);
	return r;
}

struct end_of_closing {
	struct fs *fs;
	uint64_t session;
};

static void end_closing(void *arg)
{
	struct end_of_closing *end = arg;

	closing_end(end->session);
	park_wake(&end->fs->park, end->session);
	free(end);
}

/* Opens that wait go on when the names that the turn made are known. */
static void let_others_in(struct handle *h)
{
	struct end_of_closing *end = malloc(sizeof *end);

	if (!end) { /* then without that care */
		closing_end(h->at.ref.session);
		park_wake(&h->at.fs->park, h->at.ref.session);
		return;
	}
	*end = (struct end_of_closing){ h->at.fs, h->at.ref.session };
	notify_fence(h->at.fs, end_closing, end);
}

static void input_release(struct handle *h, struct err *err)
{
	struct message *m = h->state;
	int r;

	if (!m)
		return;
	if (m->closing)
		closing_hold(h->at.ref.session);
	r = submit(h, m, err);
	if (r < 0)
		err->code = r;
	if (m->closing)
		let_others_in(h);
	buf_release(&m->text);
	free(m);
}

/* Nothing to cut: what was written is the message. */
int input_truncate(struct handle *h, uint64_t size, struct err *err)
{
	(void)h;
	(void)size;
	(void)err;
	return 0;
}

/* To read it is to find nothing: programs that copy or search all files may. */
int input_follow(struct handle *h, uint64_t offset, size_t size, struct buf *out, struct err *err)
{
	(void)h;
	(void)offset;
	(void)size;
	(void)out;
	(void)err;
	return 1;
}

const struct file_ops input_ops = {
	.follow = input_follow,
	.open = input_open,
	.write = input_write,
	.truncate = input_truncate,
	.flush = input_flush,
	.release = input_release,
};
