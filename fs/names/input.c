/*
 * input and input.json: see input.h.
 *
 * A write appends to the message, and is refused if the message becomes invalid.
 * The flush of each close stores the new bytes ("stages" them). The release after
 * the last close submits the message. Offsets are ignored.
 */
#include "fs/names/input.h"

#include "base/utf8.h"
#include "fs/tree/closing.h"
#include "fs/tree/handle.h"
#include "runner/history/answers.h"
#include "runner/runner.h"
#include "store/turn/staged.h"
#include "store/turn/turn.h"

#include <errno.h>
#include <stdlib.h>

#define CHECK_BYTES (1u << 20) /* JSON up to this size is checked with each write */

struct message {
	enum message_kind kind; /* fixed */
	struct buf text;
	size_t checked;  /* JSON: length at the last check */
	size_t staged;   /* number of staged bytes */
	uint64_t number; /* number of the staged message; 0: nothing is staged */
	uint64_t pieces; /* number of staged pieces */
	bool closing;    /* other opens wait for this one */
	bool refused;    /* a write failed: the message is not submitted */
};

static int open_message(struct handle *h, enum message_kind kind, struct err *err)
{
	struct message *m;
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
	m = calloc(1, sizeof *m);
	if (!m)
		return err_nomem(err);
	m->kind = kind;
	h->state = m;
	return 0;
}

static int input_open(struct handle *h, struct err *err)
{
	return open_message(h, MESSAGE_TEXT, err);
}

static int input_json_open(struct handle *h, struct err *err)
{
	return open_message(h, MESSAGE_JSON, err);
}

/* If a run request names an app, a user or a session, the name must be the one of this place. */
static int check_name(const struct buf *said, const char *is, const char *what, struct err *err)
{
	if (!said->len || span_is(buf_span(said), is))
		return 0;
	return err_set(err, -EINVAL, "%s is '%.*s', but must be '%.100s' here", what,
		       (int)MIN(said->len, 100), said->data, is);
}

static int same_invocation(void *arg, const struct turn_info *info)
{
	return span_is(*(struct span *)arg, info->invocation);
}

static int check_invocation(struct handle *h, const struct buf *said, struct err *err)
{
	struct span invocation = buf_span(said);
	int r;

	if (!said->len)
		return 0;
	r = turn_list(h->at.fs->store, h->at.ref, 0, same_invocation, &invocation, err);
	if (r == 0)
		r = err_set(err, -EINVAL, "invocationId: the session has no turn '%.*s'",
			    (int)MIN(said->len, 100), said->data);
	return MIN(r, 0);
}

static int check_place(struct handle *h, const struct message_place *place, struct err *err)
{
	struct scopes scopes;
	int r = scope_stat_all(h->at.fs->store, h->at.ref, &scopes, err);

	if (r == 0)
		r = check_name(&place->session, scopes.session.id, "sessionId", err);
	if (r == 0)
		r = check_name(&place->user, scopes.user.id, "userId", err);
	if (r == 0)
		r = check_name(&place->app, scopes.app.id, "appName", err);
	return r < 0 ? r : check_invocation(h, &place->invocation, err);
}

/* 0: valid JSON; 1: blank; -ENODATA: incomplete; -EINVAL, -EFBIG: invalid. */
static int check_json_message(struct handle *h, const struct message *m, struct err *err)
{
	CLEANUP(event_release) struct event e = { 0 };
	CLEANUP(message_place_release) struct message_place place = { 0 };
	int r = message_parse(MESSAGE_JSON, buf_span(&m->text), &e, &place, err);

	if (r == 0)
		r = check_place(h, &place, err);
	if (r == 0)
		r = answers_link(h->at.fs->store, h->at.ref, &e, err);
	if (r == 0)
		r = owners_may_set(h->at.fs, h->at.ref, event_action(&e, ACTION_STATE_DELTA),
				   h->caller, err);
	return r;
}

/* Check a large message only after it has grown by an eighth, which limits the work. */
static int check_growing(struct handle *h, struct message *m, struct err *err)
{
	int r;

	if (m->text.len > CHECK_BYTES && m->text.len < m->checked + m->checked / 8)
		return 0;
	m->checked = m->text.len;
	r = check_json_message(h, m, err);
	return r == -ENODATA ? 0 : MIN(r, 0);
}

/* Check new bytes. Their first character may begin up to three bytes before, in the last write. */
static int check_characters(const struct message *m, size_t before, struct err *err)
{
	size_t from = before > 3 ? before - 3 : 0;
	struct span tail;
	bool cut = false;

	while (from < before && ((unsigned char)m->text.data[from] & 0xc0) == 0x80)
		from++;
	tail = span_sub(buf_span(&m->text), from, m->text.len);
	if (utf8_prefix(tail, &cut) != tail.len && !cut)
		return err_set(err, -EINVAL, "the message is not valid UTF-8");
	return 0;
}

static ssize_t input_write(struct handle *h, uint64_t offset, struct span data, struct err *err)
{
	struct message *m = h->state;
	size_t before;
	int r = 0;

	(void)offset;
	mutex_lock(&h->lock);
	before = m->text.len;
	if (before + data.len > MESSAGE_MAX)
		r = err_set(err, -EFBIG, "the message is longer than %u bytes", MESSAGE_MAX);
	else
		buf_span_add(&m->text, data);
	if (r == 0)
		r = buf_check(&m->text, err);
	if (r == 0)
		r = check_characters(m, before, err);
	if (r == 0 && m->kind == MESSAGE_JSON)
		r = check_growing(h, m, err);
	if (r < 0)
		m->text.len = before;
	m->refused |= r < 0;
	mutex_unlock(&h->lock);
	return r < 0 ? r : (ssize_t)data.len;
}

static int stage_message(struct handle *h, struct message *m, struct err *err)
{
	struct store *st = h->at.fs->store;
	struct span fresh = span_sub(buf_span(&m->text), m->staged, m->text.len);
	int r;

	if (!utf8_is_valid(buf_span(&m->text)))
		return err_set(err, -EINVAL, "the message ends inside a UTF-8 character");
	if (m->kind == MESSAGE_JSON) {
		r = check_json_message(h, m, err);
		if (r == -ENODATA)
			return err_set(err, -EINVAL, "the message is not complete JSON");
		if (r)
			return MIN(r, 0);
	}
	if (!m->number)
		m->number = store_new_number(st, err);
	if (!m->number)
		return -EIO;
	r = message_stage(st, &(struct staged_message){ h->at.ref, m->number, m->kind }, m->pieces,
			  fresh, err);
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
		r = stage_message(h, m, err);
	if (r == 0 && m->staged) { /* the wait starts again with each flush */
		if (m->closing)
			closing_end(h->at.ref.session);
		closing_begin(h->at.ref.session);
		m->closing = true;
	}
	mutex_unlock(&h->lock);
	return r;
}

static int submit_message(struct handle *h, struct message *m, struct err *err)
{
	CLEANUP(event_release) struct event e = { 0 };
	int r = 1;

	if (!m->refused && utf8_is_valid(buf_span(&m->text)))
		r = message_parse(m->kind, buf_span(&m->text), &e, NULL, err);
	if (r == 0)
		r = runner_submit(h->at.fs->runner, h->at.ref, m->number, &e, err);
	if (r != -EINVAL && r <= 0)
		return r;
	if (m->number && message_drop(h->at.fs->store, m->number, NULL) < 0)
		return err_set(err, -EIO, "the refused message cannot be removed");
	return r == -ENOMEM ? r : 0; /* the close has reported the reason */
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

/* Let waiting opens go on when the kernel has dropped the names that the turn made. */
static void let_others_in(struct handle *h)
{
	struct end_of_closing *end = malloc(sizeof *end);

	if (!end) { /* without memory they go on at once */
		closing_end(h->at.ref.session);
		park_wake(&h->at.fs->park, h->at.ref.session);
		return;
	}
	*end = (struct end_of_closing){ h->at.fs, h->at.ref.session };
	notify_fence(&h->at.fs->notify, end_closing, end);
}

static void input_release(struct handle *h, struct err *err)
{
	struct message *m = h->state;
	int r;

	if (!m)
		return;
	if (m->closing)
		closing_hold(h->at.ref.session);
	r = submit_message(h, m, err);
	if (r < 0)
		err->code = r;
	if (m->closing)
		let_others_in(h);
	buf_release(&m->text);
	free(m);
}

int input_truncate(struct handle *h, uint64_t size, struct err *err)
{
	(void)h;
	(void)size;
	(void)err;
	return 0;
}

int input_follow(struct handle *h, uint64_t offset, size_t size, struct buf *out, struct err *err)
{
	(void)h;
	(void)offset;
	(void)size;
	(void)out;
	(void)err;
	return 1;
}

const struct file_ops input_json_ops = {
	.follow = input_follow,
	.open = input_json_open,
	.write = input_write,
	.truncate = input_truncate,
	.flush = input_flush,
	.release = input_release,
};

const struct file_ops input_ops = {
	.follow = input_follow,
	.open = input_open,
	.write = input_write,
	.truncate = input_truncate,
	.flush = input_flush,
	.release = input_release,
};
