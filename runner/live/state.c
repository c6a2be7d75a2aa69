/*
 * Views: see state.h.
 */
#include "runner/live/state.h"

#include "base/json_merge.h"
#include "store/json/deleted.h"
#include "store/session/state.h"

#include <errno.h>
#include <stdlib.h>

struct stateview *stateview_new(struct stateview *below, const struct stateview_source *source)
{
	struct stateview *v = calloc(1, sizeof *v);

	if (!v)
		return NULL;
	v->below = below;
	v->source = source;
	v->changes = json_object();
	if (!v->changes) {
		free(v);
		return NULL;
	}
	mutex_init(&v->lock);
	return v;
}

void stateview_free(struct stateview *v) NO_THREAD_ANALYSIS /* nobody else has it */
{
	if (!v)
		return;
	json_decref(v->changes);
	mutex_release(&v->lock);
	free(v);
}

/* Append the value of a committed key, or of a `temp:` key. */
static int get_stored(const struct stateview_source *source, struct span key, struct buf *json,
		      struct err *err)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	struct ref scope = source->session;
	struct span bare;
	struct span value;
	enum scope_kind kind = statekey_scope(key, &bare);
	char *name;
	int r;

	if (kind == SCOPE_TEMP) {
		CLEANUP(buf_release) struct buf copy = { 0 };

		buf_span_add(&copy, key);
		name = buf_cstr(&copy);
		r = name ? source->temp(source->arg, scope, &text) : -ENOMEM;
		if (r < 0 || !text.len)
			return r < 0 ? r : -ENOENT;
		r = json_member(buf_span(&text), name, &value);
		if (r == 0)
			buf_span_add(json, value);
		return r;
	}
	if (kind != SCOPE_SESSION)
		scope.session = 0;
	if (kind == SCOPE_APP)
		scope.user = 0;
	r = state_get(source->store, scope, bare, &text, NULL, NULL);
	if (r < 0)
		return r == -ENOENT ? r : err_set(err, r, "the state cannot be read");
	return json_canonical_text(buf_span(&text), JSON_DEPTH_FREE, json, err);
}

/* 1: this view has the value; -ENOENT: it deleted the key; 0: look in the views below. */
static int get_own(struct stateview *v, struct span key, struct buf *json)
{
	json_t *change;
	int r = 0;

	mutex_lock(&v->lock);
	change = json_object_getn(v->changes, key.data, key.len);
	if (json_is_string(change)) {
		buf_add(json, json_string_value(change), json_string_length(change));
		r = 1;
	} else if (change) {
		r = -ENOENT;
	}
	mutex_unlock(&v->lock);
	return r;
}

int stateview_get(struct stateview *v, struct span key, struct buf *json, struct err *err)
{
	int r = 0;

	for (; r == 0; v = v->below) {
		r = get_own(v, key, json);
		if (r == 0 && !v->below)
			return get_stored(v->source, key, json, err);
	}
	return r < 0 ? r : buf_check(json, err);
}

static int add_text(void *arg, struct span key, struct span value)
{
	return json_object_setn_new(arg, key.data, key.len, json_stringn(value.data, value.len))
		       ? -ENOMEM
		       : 0;
}

/* Load the keys and texts below all changes. */
static int load_stored(const struct stateview_source *source, json_t *map, struct err *err)
{
	CLEANUP(buf_release) struct buf object = { 0 };
	int r = state_map(source->store, source->session, &object, err);

	if (r == 0)
		r = json_each(buf_span(&object), add_text, map);
	if (r < 0)
		return r;
	buf_clear(&object);
	r = source->temp(source->arg, source->session, &object);
	return r < 0 || !object.len ? r : json_each(buf_span(&object), add_text, map);
}

static int load(struct stateview *v, json_t *map, struct err *err)
{
	const char *key;
	size_t len;
	json_t *change;
	int r = v->below ? load(v->below, map, err) : load_stored(v->source, map, err);

	if (r < 0)
		return r;
	mutex_lock(&v->lock);
	json_object_keylen_foreach(v->changes, key, len, change)
	{
		if (!json_is_string(change))
			(void)json_object_deln(map, key, len);
		else /* a copy: `changes` is used with the lock only */
			r = add_text(map, (struct span){ key, len },
				     (struct span){ json_string_value(change),
						    json_string_length(change) });
		if (r < 0)
			break;
	}
	mutex_unlock(&v->lock);
	return r;
}

int stateview_each(struct stateview *v, stateview_fn *fn, void *arg, struct err *err)
{
	json_auto_t *map = json_object();
	const char *key;
	size_t len;
	json_t *text;
	int r = map ? load(v, map, err) : -ENOMEM;

	if (r < 0)
		return r == -ENOMEM ? err_nomem(err) : r;
	json_object_keylen_foreach(map, key, len, text)
	{
		r = fn(arg, (struct span){ key, len },
		       (struct span){ json_string_value(text), json_string_length(text) });
		if (r)
			return r;
	}
	return 0;
}

static int add_member(void *arg, struct span key, struct span json)
{
	struct buf *out = arg;

	if (out->data[out->len - 1] != '{')
		buf_char(out, ',');
	json_quote(out, key);
	buf_char(out, ':');
	buf_span_add(out, json);
	return buf_check(out, NULL);
}

int stateview_map(struct stateview *v, struct buf *out, struct err *err)
{
	int r;

	buf_char(out, '{');
	r = buf_check(out, err);
	if (r == 0)
		r = stateview_each(v, add_member, out, err);
	buf_char(out, '}');
	return r < 0 ? r : buf_check(out, err);
}

static size_t size_of(struct span key, const json_t *value)
{
	return value ? key.len + json_string_length(value) : 0;
}

static int change(struct stateview *v, struct span key, json_t *value, struct err *err)
{
	size_t fresh = size_of(key, value);
	size_t old;
	int r;

	mutex_lock(&v->lock);
	old = size_of(key, json_object_getn(v->changes, key.data, key.len));
	r = json_object_setn_new(v->changes, key.data, key.len, value);
	if (r == 0)
		v->size += fresh - old;
	v->count++;
	mutex_unlock(&v->lock);
	return r ? err_nomem(err) : 0;
}

int stateview_check(struct stateview *v, struct span key, size_t len, struct err *err)
{
	size_t size;

	mutex_lock(&v->lock);
	size = v->size - size_of(key, json_object_getn(v->changes, key.data, key.len));
	mutex_unlock(&v->lock);
	if (size > STATEVIEW_MAX || key.len + len > STATEVIEW_MAX - size)
		return err_set(err, -EFBIG,
			       "the changes of the state would have more than %u bytes",
			       STATEVIEW_MAX);
	return 0;
}

int stateview_set(struct stateview *v, struct span key, struct span json, struct err *err)
{
	int r = statekey_check(key, err);

	if (r == 0)
		r = stateview_check(v, key, json.len, err);
	return r < 0 ? r : change(v, key, json_stringn(json.data, json.len), err);
}

int stateview_delete(struct stateview *v, struct span key, struct err *err)
{
	CLEANUP(buf_release) struct buf old = { 0 };
	int r = stateview_get(v, key, &old, err);

	return r < 0 ? r : change(v, key, json_null(), err);
}

size_t stateview_size(struct stateview *v)
{
	size_t size;

	mutex_lock(&v->lock);
	size = v->size;
	mutex_unlock(&v->lock);
	return size;
}

uint64_t stateview_count(struct stateview *v)
{
	uint64_t count;

	mutex_lock(&v->lock);
	count = v->count;
	mutex_unlock(&v->lock);
	return count;
}

int stateview_drop_temp(struct stateview *v, struct err *err)
{
	json_t *kept = json_object();
	const char *key;
	size_t len;
	json_t *value;
	size_t size = 0;
	int r = kept ? 0 : -ENOMEM;

	mutex_lock(&v->lock);
	json_object_keylen_foreach(v->changes, key, len, value)
	{
		struct span name = { key, len };

		if (r < 0 || statekey_is_temp(name))
			continue;
		size += size_of(name, value);
		r = json_object_setn(kept, key, len, value) ? -ENOMEM : 0;
	}
	if (r == 0) {
		v->size = size;
		json_decref(v->changes);
		v->changes = kept;
		kept = NULL;
	}
	mutex_unlock(&v->lock);
	json_decref(kept);
	return r < 0 ? err_nomem(err) : 0;
}

/* The JSON of a change. */
static struct span text_of(const json_t *value)
{
	if (!json_is_string(value))
		return SPAN("null");
	return (struct span){ json_string_value(value), json_string_length(value) };
}

/* Append a member of an object; without json, an element of a list. */
static void add_next(struct buf *list, struct span key, struct span json)
{
	if (list->len)
		buf_char(list, ',');
	json_quote(list, key);
	if (json.len)
		buf_char(list, ':');
	buf_span_add(list, json);
}

int stateview_write(struct stateview *v, struct event *e)
{
	CLEANUP(buf_release) struct buf temp = { 0 };
	CLEANUP(buf_release) struct buf delta = { 0 };
	CLEANUP(buf_release) struct buf deleted = { 0 };
	const char *key;
	size_t len;
	json_t *value;

	mutex_lock(&v->lock);
	json_object_keylen_foreach(v->changes, key, len, value)
	{
		struct span name = { key, len };
		bool is_temp = statekey_is_temp(name);

		add_next(is_temp ? &temp : &delta, name, text_of(value));
		if (!is_temp && !json_is_string(value))
			add_next(&deleted, name, SPAN(""));
	}
	mutex_unlock(&v->lock);
	buf_clear(&e->temp_text);
	if (temp.len) {
		buf_char(&e->temp_text, '{');
		buf_span_add(&e->temp_text, buf_span(&temp));
		buf_char(&e->temp_text, '}');
	}
	e->temp_delta = buf_span(&e->temp_text);
	event_change_states(e, buf_span(&delta), buf_span(&deleted));
	e->text.failed |= temp.failed || delta.failed || deleted.failed;
	return e->temp_text.failed ? -ENOMEM : event_check(e, NULL);
}

/* Lay a value over the change of the same key, if there is one. */
static int merge_change(struct stateview *v, struct span key, const json_t *value, struct err *err)
{
	CLEANUP(buf_release) struct buf old = { 0 };
	CLEANUP(buf_release) struct buf merged = { 0 };
	struct span json = { json_string_value(value), json_string_length(value) };
	int r = 0;

	if (!json.data)
		return change(v, key, json_null(), err);
	if (get_own(v, key, &old) == 1)
		r = json_merge(buf_span(&old), json, &merged);
	else
		buf_span_add(&merged, json);
	if (r < 0 || merged.failed)
		return err_nomem(err);
	return change(v, key, json_stringn(merged.data, merged.len), err);
}

static json_t *copy_changes(struct stateview *v)
{
	json_t *copy;

	mutex_lock(&v->lock);
	copy = json_copy(v->changes);
	mutex_unlock(&v->lock);
	return copy;
}

static int each_change(struct stateview *v, struct stateview *other,
		       int (*take)(struct stateview *v, struct span key, const json_t *value,
				   struct err *err),
		       struct err *err)
{
	json_auto_t *changes = copy_changes(other);
	const char *key;
	size_t len;
	json_t *value;

	if (!changes)
		return err_nomem(err);
	json_object_keylen_foreach(changes, key, len, value)
	{
		int r = take(v, (struct span){ key, len }, value, err);

		if (r < 0)
			return r;
	}
	return 0;
}

static int lay_change(struct stateview *v, struct span key, const json_t *value, struct err *err)
{
	return change(v, key, json_incref((json_t *)value), err);
}

int stateview_lay(struct stateview *v, struct stateview *other, struct err *err)
{
	return each_change(v, other, lay_change, err);
}

int stateview_merge(struct stateview *v, struct stateview *other, struct err *err)
{
	return each_change(v, other, merge_change, err);
}

struct taking {
	struct stateview *view;
	struct deleted deleted;
	struct err *err;
};

static int take_member(void *arg, struct span key, struct span value)
{
	struct taking *t = arg;

	if (span_is(value, "null") && deleted_find(&t->deleted, key))
		return change(t->view, key, json_null(), t->err);
	return stateview_set(t->view, key, value, t->err);
}

int stateview_take(struct stateview *v, const struct event *e, struct err *err)
{
	struct taking t = { .view = v, .err = err };
	struct span delta = event_action(e, ACTION_STATE_DELTA);
	int r = deleted_read(event_json(e, EVENT_CUSTOM_METADATA), &t.deleted, err);

	if (r == 0 && delta.len)
		r = json_each(delta, take_member, &t);
	if (r == 0 && e->temp_delta.len)
		r = json_each(e->temp_delta, take_member, &t);
	deleted_release(&t.deleted);
	return r;
}
