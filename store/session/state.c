/*
 * State: see state.h. The rows are specified in value.c.
 */
#include "store/session/state.h"

#include "base/clock.h"
#include "store/session/session.h"
#include "store/session/value.h"
#include "store/tx/key.h"
#include "store/tx/record.h"

#include <errno.h>

struct request {
	struct ref scope;
	struct span key;
	struct span text;
	struct buf *out;
	uint64_t number; /* for the key if it is new */
	struct state_info info;
	struct event event;
};

static int get(struct store_tx *tx, void *arg)
{
	struct request *rq = arg;
	CLEANUP(buf_release) struct buf record = { 0 };
	struct key name = key_name(ref_number(rq->scope), KEY_STATE, rq->key);
	struct state_value v;
	int r = store_get(tx, &name, &record);

	if (r == -ENOENT)
		return err_set(tx->err, r, "there is no state key '%.*s'",
			       (int)MIN(rq->key.len, 100), rq->key.data);
	if (r == 0)
		r = state_decode(buf_span(&record), &v);
	if (r < 0)
		return r;
	rq->info = v.info;
	if (!rq->out)
		return 0;
	buf_span_add(rq->out, v.text);
	return buf_check(rq->out, tx->err);
}

int state_get(struct store *st, struct ref scope, struct span key, struct buf *text,
	      struct state_info *info, struct err *err)
{
	struct request rq = { .scope = scope, .key = key, .out = text };
	int r = store_view(st, get, &rq, err);

	if (r == 0 && info)
		*info = rq.info;
	return r;
}

struct listing {
	struct store_tx *tx;
	struct ref scope;
	uint64_t after;
	state_fn *fn;
	void *arg;
};

static int emit(void *arg, struct span key, struct span value)
{
	struct listing *l = arg;
	CLEANUP(buf_release) struct buf record = { 0 };
	struct record_reader reader = { .left = value };
	struct span name = record_take_text(&reader);
	struct key row = key_name(ref_number(l->scope), KEY_STATE, name);
	struct state_value v;
	int r = store_get(l->tx, &row, &record);

	(void)key;
	if (r == 0)
		r = state_decode(buf_span(&record), &v);
	return r < 0 ? r : l->fn(l->arg, name, &v.info);
}

static int list(struct store_tx *tx, void *arg)
{
	struct listing *l = arg;
	struct key prefix = key_dir(KEY_ITEM, ref_number(l->scope), KEY_STATE);
	struct key from = key_item(ref_number(l->scope), KEY_STATE, l->after + 1);

	l->tx = tx;
	return store_scan(tx, &from, &prefix, emit, l);
}

int state_list(struct store *st, struct ref scope, uint64_t after, state_fn *fn, void *arg,
	       struct err *err)
{
	struct listing l = { .scope = scope, .after = after, .fn = fn, .arg = arg };

	return store_view(st, list, &l, err);
}

struct mapping {
	struct ref scope;
	struct buf *out;
	const char *prefix;
};

static int add_member(void *arg, struct span key, struct span value)
{
	struct mapping *m = arg;
	CLEANUP(buf_release) struct buf name = { 0 };
	struct state_value v;
	int r = state_decode(value, &v);

	if (r < 0)
		return r;
	buf_text(&name, m->prefix);
	buf_span_add(&name, key_name_of(key));
	if (m->out->data[m->out->len - 1] != '{')
		buf_char(m->out, ',');
	json_quote(m->out, buf_span(&name));
	buf_char(m->out, ':');
	r = json_canonical_text(v.text, JSON_DEPTH_FREE, m->out, NULL);
	return r < 0 ? -EIO : 0;
}

static int add_scope(struct store_tx *tx, struct mapping *m, uint64_t number, const char *prefix)
{
	struct key rows = key_dir(KEY_NAME, number, KEY_STATE);

	m->prefix = prefix;
	return store_scan(tx, &rows, &rows, add_member, m);
}

static int map(struct store_tx *tx, void *arg)
{
	struct mapping *m = arg;
	size_t from = m->out->len;
	int r;

	buf_char(m->out, '{');
	r = buf_check(m->out, tx->err);
	if (r == 0)
		r = add_scope(tx, m, ref_number(m->scope), "");
	if (r == 0 && m->scope.session)
		r = add_scope(tx, m, m->scope.app, statekey_prefix(SCOPE_APP));
	if (r == 0 && m->scope.session)
		r = add_scope(tx, m, m->scope.user, statekey_prefix(SCOPE_USER));
	buf_char(m->out, '}');
	if (r < 0)
		m->out->len = from;
	return r < 0 ? r : buf_check(m->out, tx->err);
}

int state_map(struct store *st, struct ref scope, struct buf *out, struct err *err)
{
	struct mapping m = { .scope = scope, .out = out };

	return store_view(st, map, &m, err);
}

int state_check_text(struct span text, struct err *err)
{
	struct json_scan s = json_scan_of(text, JSON_DEPTH_FREE, err);
	struct span value;
	int r;

	if (text.len > STATE_VALUE_MAX)
		return err_set(err, -EFBIG, "the state value is over %u bytes", STATE_VALUE_MAX);
	r = json_raw(&s, &value);
	return r < 0 ? r : json_end(&s);
}

/* A new event of the user, outside of a turn. */
static int new_event(struct event *e, struct err *err)
{
	char invocation[40];

	clock_new_id(invocation, "p-");
	event_set_text(e, EVENT_INVOCATION, span_of(invocation));
	event_set_text(e, EVENT_AUTHOR, SPAN("user"));
	return event_check(e, err);
}

/* Add the event, then replace the canonical text by the text as it was written. */
static int set_in_session(struct store_tx *tx, void *arg)
{
	struct request *rq = arg;
	CLEANUP(session_release) struct session_tx s;
	int r = session_begin(&s, tx, rq->scope);

	tx->number = rq->number;
	if (r == 0)
		r = session_add(&s, &rq->event);
	if (r == 0 && rq->text.len)
		r = session_put_state(&s, rq->key, rq->text);
	return r < 0 ? r : session_finish(&s);
}

static int set_in_scope(struct store_tx *tx, void *arg)
{
	struct request *rq = arg;
	struct scope_info info;
	uint64_t stamp = clock_stamp();
	int r = scope_need(tx, rq->scope, &info);

	if (r < 0)
		return r;
	tx->number = rq->number;
	if (rq->text.data)
		r = state_put(tx, rq->scope, &info, rq->key, rq->text, stamp);
	else
		r = state_drop(tx, rq->scope, &info, rq->key, stamp);
	if (r == 0)
		scope_save(tx, rq->scope, &info);
	return r;
}

static struct span without_newline(struct span text)
{
	if (text.len && text.data[text.len - 1] == '\n')
		text.len--;
	return text;
}

int state_check_key(struct ref scope, struct span key, struct err *err)
{
	CLEANUP(buf_release) struct buf prefixed = { 0 };

	if (scope.session)
		return statekey_check(key, err);
	/* In a scope of its own, a prefix is a part of the key. */
	buf_text(&prefixed, statekey_prefix(scope.user ? SCOPE_USER : SCOPE_APP));
	buf_span_add(&prefixed, key);
	return prefixed.failed ? err_nomem(err) : statekey_check(buf_span(&prefixed), err);
}

int state_set(struct store *st, struct ref scope, struct span key, struct span text,
	      uint64_t number, struct err *err)
{
	struct request rq = {
		.scope = scope, .key = key, .text = without_newline(text), .number = number
	};
	CLEANUP(buf_release) struct buf canonical = { 0 };
	CLEANUP(buf_release) struct buf name = { 0 };
	int r = state_check_key(scope, key, err);

	if (r == 0)
		r = state_check_text(text, err);
	if (r < 0)
		return r == -ENODATA ? -EINVAL : r;
	if (scope.session && statekey_is_temp(key))
		return err_set(err, -EINVAL, "temp: keys are not stored");
	if (!scope.session)
		return store_update(st, set_in_scope, &rq, err);
	r = json_canonical_text(text, JSON_DEPTH_FREE, &canonical, err);
	if (r < 0)
		return r;
	buf_span_add(&name, key);
	if (!buf_cstr(&name))
		return err_nomem(err);
	event_set_state(&rq.event, name.data, buf_span(&canonical));
	r = new_event(&rq.event, err);
	if (span_equal(buf_span(&canonical), rq.text))
		rq.text.len = 0; /* the event writes this text */
	if (r == 0)
		r = store_update(st, set_in_session, &rq, err);
	event_release(&rq.event);
	return r;
}

int state_delete(struct store *st, struct ref scope, struct span key, struct err *err)
{
	struct request rq = { .scope = scope, .key = key };
	CLEANUP(buf_release) struct buf name = { 0 };
	int r = state_get(st, scope, key, NULL, NULL, err);

	if (r < 0)
		return r;
	if (!scope.session)
		return store_update(st, set_in_scope, &rq, err);
	buf_span_add(&name, key);
	if (!buf_cstr(&name))
		return err_nomem(err);
	event_delete_state(&rq.event, name.data);
	r = new_event(&rq.event, err);
	if (r == 0)
		r = store_update(st, set_in_session, &rq, err);
	event_release(&rq.event);
	return r;
}

struct set_all {
	struct ref scope;
	struct span object;
	struct store_tx *tx;
	struct scope_info info;
	uint64_t stamp;
	struct err *err;
};

static int check_member(void *arg, struct span key, struct span value)
{
	struct set_all *all = arg;
	int r = state_check_key(all->scope, key, all->err);

	return r == 0 ? state_check_text(value, all->err) : r;
}

static int put_member(void *arg, struct span key, struct span value)
{
	struct set_all *all = arg;

	return state_put(all->tx, all->scope, &all->info, key, value, all->stamp);
}

static int set_all_in_scope(struct store_tx *tx, void *arg)
{
	struct set_all *all = arg;
	int r = scope_need(tx, all->scope, &all->info);

	if (r < 0)
		return r;
	all->tx = tx;
	all->stamp = clock_stamp();
	r = json_each(all->object, put_member, all);
	if (r == 0)
		scope_save(tx, all->scope, &all->info);
	return r;
}

/* The object, canonical and checked member by member. */
static int take_object(struct set_all *all, struct span object, struct buf *canonical)
{
	struct json_scan s = json_scan_of(object, JSON_DEPTH_FREE + 1, all->err);
	int r = json_peek(&s);

	if (r >= 0 && r != '{')
		r = err_set(all->err, -EINVAL, "expected an object of state keys and values");
	if (r >= 0)
		r = json_canonical_text(object, JSON_DEPTH_FREE + 1, canonical, all->err);
	if (r < 0)
		return r;
	all->object = buf_span(canonical);
	return json_each(all->object, check_member, all);
}

int state_check_object(struct ref scope, struct span text, struct err *err)
{
	CLEANUP(buf_release) struct buf canonical = { 0 };
	struct set_all all = { .scope = scope, .err = err };

	return take_object(&all, text, &canonical);
}

/* An event of the user with this delta, its temp: keys taken out. */
static int event_of_delta(struct span delta, struct event *e, struct buf *temp, struct err *err)
{
	CLEANUP(buf_release) struct buf line = { 0 };
	int r;

	buf_text(&line, "{\"author\":\"user\",\"actions\":{\"stateDelta\":");
	buf_span_add(&line, delta);
	buf_text(&line, "}}");
	r = buf_check(&line, err);
	if (r == 0)
		r = event_from_json(buf_span(&line), e, err);
	if (r == 0)
		r = new_event(e, err);
	if (r == 0)
		buf_span_add(temp, e->temp_delta);
	return r < 0 ? r : buf_check(temp, err);
}

int state_set_all(struct store *st, struct ref scope, struct span object, struct buf *temp,
		  struct err *err)
{
	CLEANUP(buf_release) struct buf canonical = { 0 };
	CLEANUP(event_release) struct event e = { 0 };
	struct set_all all = { .scope = scope, .err = err };
	int r = take_object(&all, object, &canonical);

	if (r < 0)
		return r == -ENODATA ? -EINVAL : r;
	if (canonical.len == 2)
		return 0;
	if (!scope.session)
		return store_update(st, set_all_in_scope, &all, err);
	r = event_of_delta(all.object, &e, temp, err);
	if (r == 0 && event_action(&e, ACTION_STATE_DELTA).len > 2)
		r = session_append(st, scope, &e, 1, err);
	return r;
}
