/*
 * Sessions: see session.h.
 *
 * The rows that an append writes are specified in log.c and value.c.
 */
#include "store/session/session.h"

#include "base/clock.h"
#include "store/index/postings.h"
#include "store/json/deleted.h"
#include "store/json/state_key.h"
#include "store/session/log.h"
#include "store/session/mark.h"
#include "store/session/value.h"
#include "store/tx/key.h"
#include "store/tx/record.h"

#include <errno.h>

int session_begin(struct session_tx *s, struct store_tx *tx, struct ref ref)
{
	int r;

	*s = (struct session_tx){ .tx = tx, .ref = ref };
	r = scope_need(tx, ref, &s->session);
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

	if (kind == SCOPE_TEMP) /* never stored; the codec has taken them out */
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

/* Make an id for an event without one. A given id must be new in the session. */
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
		return err_set(s->tx->err, -EINVAL, "event: the id is invalid");
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

/* Add an event to the index. from: the place of its line in s->lines. */
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
		change = store_add_change(s->tx, CHANGE_LOG, s->ref);
		if (!change)
			return err_nomem(s->tx->err);
		change->folds = s->start / LOG_SEGMENT_BYTES !=
				s->session.log_size / LOG_SEGMENT_BYTES;
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
