/*
 * Sessions: see session.h.
 *
 * Rows: KEY_LOG session end -> bytes that end there; KEY_SEGMENT the same,
 * folded; KEY_EVENT session id -> record: start, length of the line.
 */
#include "store/session/session.h"

#include "base/clock.h"
#include "store/index/postings.h"
#include "store/json/deleted.h"
#include "store/session/mark.h"
#include "store/session/state.h"
#include "store/tx/key.h"

#include <errno.h>
#include <stdlib.h>

int session_begin(struct session_tx *s, struct store_tx *tx, struct ref ref)
{
	int r;

	*s = (struct session_tx){ .tx = tx, .ref = ref };
	r = scope_load(tx, ref, &s->session);
	s->start = s->session.log_size;
	s->stamp = clock_stamp();
	return r;
}

void session_release(struct session_tx *s)
{
	buf_release(&s->lines);
}

/* The record of the scope that a state key belongs to. */
static int scope_of_key(struct session_tx *s, enum scope_kind kind, struct ref *ref,
			struct scope_info **info)
{
	int r = 0;

	*ref = s->ref;
	*info = &s->session;
	if (kind == SCOPE_SESSION)
		return 0;
	ref->session = 0;
	if (kind == SCOPE_USER) {
		*info = &s->user;
		if (!s->has_user)
			r = scope_load(s->tx, *ref, &s->user);
		s->has_user |= r == 0;
		return r;
	}
	ref->user = 0;
	*info = &s->app;
	if (!s->has_app)
		r = scope_load(s->tx, *ref, &s->app);
	s->has_app |= r == 0;
	return r;
}

struct apply {
	struct session_tx *s;
	const struct deleted *deleted;
};

static int apply_member(void *arg, struct span key, struct span value)
{
	struct apply *a = arg;
	struct scope_info *info;
	struct span bare;
	struct ref ref;
	enum scope_kind kind = statekey_scope(key, &bare);
	int r;

	if (kind == SCOPE_TEMP) /* never stored; the codec takes them out before */
		return 0;
	r = scope_of_key(a->s, kind, &ref, &info);
	if (r < 0)
		return r;
	if (span_is(value, "null") && deleted_find(a->deleted, key))
		return state_drop(a->s->tx, ref, info, bare, a->s->stamp);
	return state_put(a->s->tx, ref, info, bare, value, a->s->stamp);
}

int session_put_state(struct session_tx *s, struct span key, struct span text)
{
	struct scope_info *info;
	struct span bare;
	struct ref ref;
	enum scope_kind kind = statekey_scope(key, &bare);
	int r = scope_of_key(s, kind, &ref, &info);

	return r < 0 ? r : state_put(s->tx, ref, info, bare, text, s->stamp);
}

/* An id for an event without one; a given id must be new in the session. */
static int settle_id(struct session_tx *s, struct event *e)
{
	CLEANUP(buf_release) struct buf id = { 0 };
	CLEANUP(buf_release) struct buf row = { 0 };
	char made[40];
	struct key key;
	int r;

	if (!event_json(e, EVENT_ID).len) {
		clock_new_id(made, "");
		event_set_text(e, EVENT_ID, span_of(made));
		return 0;
	}
	r = event_text(e, EVENT_ID, &id);
	if (r < 0)
		return err_set(s->tx->err, -EINVAL, "event: bad id");
	key = key_event(s->ref.session, buf_span(&id));
	r = store_get(s->tx, &key, &row);
	if (r == 0)
		return err_set(s->tx->err, -EEXIST, "event id '%.*s' is in the log already",
			       (int)id.len, id.data);
	return r == -ENOENT ? 0 : r;
}

static void settle_time(struct session_tx *s, struct event *e)
{
	int64_t now;

	if (event_json(e, EVENT_TIMESTAMP).len && !e->made_time)
		return;
	now = clock_now();
	event_set_time(e, now > s->session.updated ? now : s->session.updated + 1);
	e->made_time = true;
}

static int put_event_row(struct session_tx *s, const struct event *e, uint64_t start, size_t len)
{
	CLEANUP(buf_release) struct buf id = { 0 };
	CLEANUP(buf_release) struct buf record = { 0 };
	struct key key;
	int r = event_text(e, EVENT_ID, &id);

	if (r < 0)
		return err_nomem(s->tx->err);
	key = key_event(s->ref.session, buf_span(&id));
	record_number(&record, start);
	record_number(&record, len);
	store_put(s->tx, &key, buf_span(&record));
	return 0;
}

/* The event, the line of which begins at `from` in the lines, can be found from now on. */
static int index_event(struct session_tx *s, const struct event *e, size_t from)
{
	const struct posting posting = {
		.link = s->session.memory,
		.at = s->start + from,
		.len = s->lines.len - from,
		.time = event_time(e),
	};

	return postings_add(s->tx, s->ref.user, &posting, event_json(e, EVENT_CONTENT), NULL);
}

static int apply_delta(struct session_tx *s, const struct event *e)
{
	struct span delta = event_action(e, ACTION_STATE_DELTA);
	CLEANUP(deleted_release) struct deleted deleted = { 0 };
	struct apply apply = { s, &deleted };
	int r;

	if (delta.len <= 2)
		return 0;
	r = deleted_read(event_json(e, EVENT_CUSTOM_METADATA), &deleted, s->tx->err);
	return r < 0 ? r : json_each(delta, apply_member, &apply);
}

int session_add(struct session_tx *s, struct event *e)
{
	size_t from = s->lines.len;
	int r;

	if (span_is(event_json(e, EVENT_PARTIAL), "true"))
		return 0;
	r = settle_id(s, e);
	if (r < 0)
		return r;
	settle_time(s, e);
	r = apply_delta(s, e);
	if (r == 0)
		r = event_check(e, s->tx->err);
	if (r < 0)
		return r;
	event_to_json(e, &s->lines);
	if (s->lines.len - from > EVENT_LINE_MAX)
		return err_set(s->tx->err, -EFBIG, "the event would be over %u bytes",
			       EVENT_LINE_MAX);
	buf_char(&s->lines, '\n');
	r = buf_check(&s->lines, s->tx->err);
	if (r < 0)
		return r;
	s->session.updated = event_time(e);
	s->session.events++;
	s->session.rewinds += event_action(e, ACTION_REWIND).len > 0;
	mark_put(s->tx, s->ref, e, s->start + from, s->lines.len - from);
	r = put_event_row(s, e, s->start + from, s->lines.len - from);
	return r == 0 && s->session.memory ? index_event(s, e, from) : r;
}

/* The added lines become rows, each of at most the size of a value. */
static void put_log_rows(struct session_tx *s)
{
	struct span left = buf_span(&s->lines);
	uint64_t end = s->start;

	while (left.len) {
		size_t n = MIN(left.len, ENGINE_VALUE_MAX);
		struct key key;

		end += n;
		key = key_2(KEY_LOG, s->ref.session, end);
		store_put(s->tx, &key, span_sub(left, 0, n));
		left = span_sub(left, n, left.len);
	}
	s->session.log_size = end;
}

int session_finish(struct session_tx *s)
{
	struct ref up = s->ref;
	struct change *change;

	if (s->lines.len) {
		put_log_rows(s);
		s->session.log_stamp = s->stamp;
		change = store_changed(s->tx, CHANGE_LOG, s->ref);
		if (!change)
			return err_nomem(s->tx->err);
		change->unfolded = s->session.log_size - s->session.sealed;
		if (s->session.memory && !postings_changed(s->tx, CHANGE_MEMORY, s->ref))
			return err_nomem(s->tx->err);
	}
	s->session.stamp = s->stamp;
	scope_save(s->tx, s->ref, &s->session);
	up.session = 0;
	if (s->has_user)
		scope_save(s->tx, up, &s->user);
	up.user = 0;
	if (s->has_app)
		scope_save(s->tx, up, &s->app);
	return 0;
}

struct append {
	struct ref ref;
	struct event *events;
	size_t count;
};

static int append(struct store_tx *tx, void *arg)
{
	struct append *a = arg;
	CLEANUP(session_release) struct session_tx s;
	size_t i;
	int r = session_begin(&s, tx, a->ref);

	if (r < 0)
		return r == -ENOENT ? err_set(tx->err, -ESTALE, "the session was removed") : r;
	for (i = 0; r == 0 && i < a->count; i++)
		r = session_add(&s, &a->events[i]);
	return r < 0 || !s.lines.len ? r : session_finish(&s);
}

int session_append(struct store *st, struct ref ref, struct event *events, size_t n,
		   struct err *err)
{
	struct append a = { .ref = ref, .events = events, .count = n };

	return store_update(st, append, &a, err);
}

struct reading {
	uint64_t offset; /* next byte wanted */
	uint64_t end;
	struct buf *out;
};

static int take_bytes(void *arg, struct span key, struct span value)
{
	struct reading *rd = arg;
	uint64_t end = key_last_number(key);
	uint64_t start = end - value.len;
	size_t from;
	size_t to;

	if (start > rd->offset)
		return -EIO; /* a hole: never seen in one snapshot */
	from = rd->offset - start;
	to = MIN(rd->end, end) - start;
	buf_add(rd->out, value.data + from, to - from);
	rd->offset = start + to;
	return rd->offset >= rd->end || rd->out->failed;
}

/* Segments hold the beginning of the log, rows the rest. */
static int read_bytes(struct store_tx *tx, struct ref ref, struct reading *rd)
{
	static const enum key_space spaces[] = { KEY_SEGMENT, KEY_LOG };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(spaces); i++) {
		struct key prefix = key_1(spaces[i], ref.session);
		struct key from = key_2(spaces[i], ref.session, rd->offset + 1);
		int r = store_scan(tx, &from, &prefix, take_bytes, rd);

		if (r < 0)
			return err_set(tx->err, r, "the log cannot be read");
		if (r > 0)
			break;
	}
	return buf_check(rd->out, tx->err);
}

struct read_request {
	struct ref ref;
	struct reading rd;
};

static int read_log(struct store_tx *tx, void *arg)
{
	struct read_request *rq = arg;

	return read_bytes(tx, rq->ref, &rq->rd);
}

int session_read(struct store *st, struct ref ref, uint64_t offset, size_t size, struct buf *out,
		 struct err *err)
{
	struct read_request rq = { ref, { offset, offset + size, out } };

	return store_view(st, read_log, &rq, err);
}

#define LINES_AT_ONCE (1u << 20)

int session_lines(struct store *st, struct ref ref, uint64_t from, uint64_t to, line_fn *fn,
		  void *arg, struct err *err)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	int r = 0;

	while (r == 0 && (from < to || text.len)) {
		size_t want = MIN(to - from, LINES_AT_ONCE);
		size_t before = text.len;
		char *line;
		char *newline;

		r = session_read(st, ref, from, want, &text, err);
		if (r < 0)
			return r;
		from += text.len - before;
		line = text.data;
		while (r == 0 && text.len &&
		       (newline = memchr(line, '\n', (size_t)(text.data + text.len - line)))) {
			r = fn(arg, (struct span){ line, (size_t)(newline - line) });
			line = newline + 1;
		}
		if (text.len == before) /* the log is shorter than the caller said */
			return r;
		buf_consume(&text, (size_t)(line - text.data));
	}
	return r;
}

#define LINES_BACK_LEAST (16u << 10)

/* Pass the whole lines of text, the last one first. *rest: what begins before the text is so long.
 */
static int pass_back(struct span text, uint64_t at, bool is_first, line_at_fn *fn, void *arg,
		     size_t *rest)
{
	size_t end = text.len;
	int r = 0;

	while (r == 0 && end) {
		const char *newline = memrchr(text.data, '\n', end - 1);
		size_t start = newline ? (size_t)(newline - text.data) + 1 : 0;

		if (!start && !is_first)
			break;
		r = fn(arg, at + start, span_sub(text, start, end - 1));
		end = start;
	}
	*rest = end;
	return r;
}

int session_lines_back(struct store *st, struct ref ref, uint64_t from, uint64_t to, line_at_fn *fn,
		       void *arg, struct err *err)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	size_t want = LINES_BACK_LEAST;
	int r = 0;

	while (r == 0 && from < to) {
		size_t size = MIN(to - from, want);
		uint64_t at = to - size;
		size_t rest;

		buf_clear(&text);
		r = session_read(st, ref, at, size, &text, err);
		if (r < 0)
			return r;
		if (text.len < size) /* the log is shorter than the caller said */
			return 0;
		r = pass_back(buf_span(&text), at, at == from, fn, arg, &rest);
		to = at + rest;
		/* More for a long line, and for who goes far. */
		want = rest == size ? want * 2 : MIN(want * 2, LINES_AT_ONCE);
	}
	return r;
}

/* Up to the end of a line, unless the first one is longer than a segment is to be. */
size_t session_segment_length(struct span text)
{
	const char *last = memrchr(text.data, '\n', MIN(text.len, LOG_SEGMENT_BYTES));

	return last ? (size_t)(last - text.data) + 1 : MIN(text.len, LOG_SEGMENT_BYTES);
}

struct folding {
	struct ref ref;
	bool more; /* there may be another segment to fold */
};

/* One segment of the bytes behind `sealed`; rows that it covers go. */
static int fold(struct store_tx *tx, void *arg)
{
	struct folding *folding = arg;
	struct ref ref = folding->ref;
	CLEANUP(buf_release) struct buf text = { 0 };
	struct scope_info session;
	struct reading rd = { .out = &text };
	struct key key;
	struct key end;
	size_t n;
	int r = scope_load(tx, ref, &session);

	if (r < 0)
		return r;
	folding->more = session.log_size - session.sealed > LOG_FOLD_BYTES / 2;
	if (!folding->more)
		return 0;
	rd.offset = session.sealed;
	rd.end = session.sealed + LOG_SEGMENT_BYTES;
	r = read_bytes(tx, ref, &rd);
	if (r < 0)
		return r;
	n = session_segment_length(buf_span(&text));
	key = key_2(KEY_SEGMENT, ref.session, session.sealed + n);
	store_put(tx, &key, span_sub(buf_span(&text), 0, n));
	session.sealed += n;
	key = key_2(KEY_LOG, ref.session, 0);
	end = key_2(KEY_LOG, ref.session, session.sealed + 1);
	tx->ops->del_range(tx->txn, key_span(&key), key_span(&end));
	scope_save(tx, ref, &session);
	return 0;
}

int session_fold(struct store *st, struct ref ref, struct err *err)
{
	struct folding folding = { .ref = ref };
	int r;

	do {
		r = store_update(st, fold, &folding, err);
	} while (r == 0 && folding.more);
	return r;
}

struct event_place {
	struct ref ref;
	struct span id;
	uint64_t start;
	uint64_t length;
};

static int find_event(struct store_tx *tx, void *arg)
{
	struct event_place *p = arg;
	CLEANUP(buf_release) struct buf record = { 0 };
	struct key key = key_event(p->ref.session, p->id);
	struct record_reader reader;
	int r = store_get(tx, &key, &record);

	if (r < 0)
		return r;
	reader = (struct record_reader){ .left = buf_span(&record) };
	p->start = record_take_number(&reader);
	p->length = record_take_number(&reader);
	return 0;
}

int session_find_event(struct store *st, struct ref ref, struct span id, uint64_t *start,
		       uint64_t *length, struct err *err)
{
	struct event_place p = { .ref = ref, .id = id };
	int r = store_view(st, find_event, &p, err);

	if (r == -ENOENT)
		return err_set(err, r, "there is no event '%.*s'", (int)MIN(id.len, 100), id.data);
	*start = p.start;
	*length = p.length;
	return r;
}
