/*
 * Artifacts: see artifact.h.
 *
 * Rows: KEY_NAME parent KEY_FILE name -> number; KEY_ITEM parent KEY_FILE
 * number -> record: is_directory, name, full_name, stamp, created, latest,
 * highest, size, versions_stamp, removed; KEY_VERSION artifact n -> record: number,
 * bulk, size, stamp, created, mime. A deleted artifact keeps its item with
 * latest 0, a deleted directory with removed 1, so that version numbers are
 * not used again. KEY_ITEM directory KEY_NONE 0: there while the directory is.
 */
#include "store/artifact.h"

#include "base/clock.h"
#include "store/bulk.h"
#include "store/key.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static void encode(const struct artifact_info *a, struct buf *out)
{
	record_number(out, a->is_directory);
	record_text(out, span_of(a->name));
	record_text(out, span_of(a->full_name));
	record_number(out, a->stamp);
	record_number(out, (uint64_t)a->created);
	record_number(out, a->latest);
	record_number(out, a->highest);
	record_number(out, a->size);
	record_number(out, a->versions_stamp);
	record_number(out, a->removed);
}

static int decode(struct span record, uint64_t number, struct artifact_info *a)
{
	struct record_reader r = { .left = record };

	*a = (struct artifact_info){ .number = number };
	a->is_directory = record_take_number(&r);
	record_take_field(&r, a->name, sizeof a->name);
	record_take_field(&r, a->full_name, sizeof a->full_name);
	a->stamp = record_take_number(&r);
	a->created = (int64_t)record_take_number(&r);
	a->latest = record_take_number(&r);
	a->highest = record_take_number(&r);
	a->size = record_take_number(&r);
	a->versions_stamp = record_take_number(&r);
	a->removed = record_take_number(&r);
	return r.bad ? -EIO : 0;
}

static void encode_version(const struct version_info *v, struct buf *out)
{
	record_number(out, v->number);
	record_number(out, v->bulk);
	record_number(out, v->size);
	record_number(out, v->stamp);
	record_number(out, (uint64_t)v->created);
	record_text(out, span_of(v->mime));
}

static int decode_version(struct span record, uint64_t n, struct version_info *v)
{
	struct record_reader r = { .left = record };

	*v = (struct version_info){ .n = n };
	v->number = record_take_number(&r);
	v->bulk = record_take_number(&r);
	v->size = record_take_number(&r);
	v->stamp = record_take_number(&r);
	v->created = (int64_t)record_take_number(&r);
	record_take_field(&r, v->mime, sizeof v->mime);
	return r.bad ? -EIO : 0;
}

static bool is_visible(const struct artifact_info *a)
{
	return !a->removed && (a->is_directory || a->latest);
}

struct request {
	struct ref scope;
	uint64_t parent;
	uint64_t number;
	uint64_t n;
	uint64_t new_number;
	uint64_t new_version;
	const char *name;
	const char *full_name;
	const struct artifact_save *save;
	struct event *event;
	struct artifact_info info;
	struct version_info version;
	struct buf bulks;
};

static int load_item(struct store_tx *tx, uint64_t parent, uint64_t number,
		     struct artifact_info *out)
{
	CLEANUP(buf_release) struct buf record = { 0 };
	struct key key = key_item(parent, KEY_FILE, number);
	int r = store_get(tx, &key, &record);

	if (r == -ENOENT)
		return err_set(tx->err, r, "the artifact was removed");
	return r < 0 ? r : decode(buf_span(&record), number, out);
}

/* Also an artifact that was deleted; -ENOENT: the name was never there. */
static int load_name(struct store_tx *tx, uint64_t parent, const char *name,
		     struct artifact_info *out)
{
	CLEANUP(buf_release) struct buf value = { 0 };
	struct key key = key_name(parent, KEY_FILE, span_of(name));
	int r = store_get(tx, &key, &value);

	return r < 0 ? r : load_item(tx, parent, key_last_number(buf_span(&value)), out);
}

static void save_item(struct store_tx *tx, uint64_t parent, const struct artifact_info *a)
{
	CLEANUP(buf_release) struct buf record = { 0 };
	struct key key = key_item(parent, KEY_FILE, a->number);

	encode(a, &record);
	store_put(tx, &key, buf_span(&record));
}

static void save_name(struct store_tx *tx, uint64_t parent, const struct artifact_info *a)
{
	struct key key = key_name(parent, KEY_FILE, span_of(a->name));
	struct key number = key_1(KEY_META_COUNTER, a->number);

	store_put(tx, &key, span_sub(key_span(&number), 1, number.len));
}

static int tell(struct store_tx *tx, enum change_kind kind, const struct request *rq)
{
	struct change *change = store_changed(tx, kind, rq->scope);

	if (!change)
		return err_nomem(tx->err);
	change->parent = rq->parent;
	change->item = rq->info.number;
	change->turn_or_version = rq->version.n;
	(void)snprintf(change->name, sizeof change->name, "%s", rq->info.name);
	return 0;
}

/* The list of the directory `parent` changed: move the stamp that its mtime is. */
static int touch_parent(struct store_tx *tx, struct request *rq, struct scope_info *scope,
			uint64_t stamp)
{
	scope->stamp = stamp;
	scope->artifacts_stamp = stamp; /* also of the directories below: see fs/artifacts.c */
	(void)tx;
	(void)rq;
	return 0;
}

static int find(struct store_tx *tx, void *arg)
{
	struct request *rq = arg;
	int r = load_name(tx, rq->parent, rq->name, &rq->info);

	if (r == 0 && !is_visible(&rq->info))
		r = -ENOENT;
	return r == -ENOENT ? err_set(tx->err, r, "there is no artifact '%s'", rq->name) : r;
}

int artifact_find(struct store *st, uint64_t parent, const char *name, struct artifact_info *out,
		  struct err *err)
{
	struct request rq = { .parent = parent, .name = name };
	int r = store_view(st, find, &rq, err);

	if (r == 0)
		*out = rq.info;
	return r;
}

static int stat_item(struct store_tx *tx, void *arg)
{
	struct request *rq = arg;
	int r = load_item(tx, rq->parent, rq->number, &rq->info);

	if (r == 0 && !is_visible(&rq->info))
		r = err_set(tx->err, -ENOENT, "the artifact was removed");
	return r;
}

int artifact_stat(struct store *st, uint64_t parent, uint64_t number, struct artifact_info *out,
		  struct err *err)
{
	struct request rq = { .parent = parent, .number = number };
	int r = store_view(st, stat_item, &rq, err);

	if (r == 0)
		*out = rq.info;
	return r;
}

struct listing {
	uint64_t parent;
	uint64_t after;
	artifact_fn *fn;
	version_fn *version;
	void *arg;
};

static int emit(void *arg, struct span key, struct span value)
{
	struct listing *l = arg;
	struct artifact_info info;
	int r = decode(value, key_last_number(key), &info);

	if (r < 0 || !is_visible(&info))
		return r;
	return l->fn(l->arg, &info);
}

static int list(struct store_tx *tx, void *arg)
{
	struct listing *l = arg;
	struct key prefix = key_dir(KEY_ITEM, l->parent, KEY_FILE);
	struct key from = key_item(l->parent, KEY_FILE, l->after + 1);

	return store_scan(tx, &from, &prefix, emit, l);
}

int artifact_list(struct store *st, uint64_t parent, uint64_t after, artifact_fn *fn, void *arg,
		  struct err *err)
{
	struct listing l = { .parent = parent, .after = after, .fn = fn, .arg = arg };

	return store_view(st, list, &l, err);
}

/* Load the scope's record, change it with the artifact, save it. */
static int in_scope(struct store_tx *tx, struct request *rq, struct scope_info *scope)
{
	int r = scope_load(tx, rq->scope, scope);

	return r == -ENOENT ? err_set(tx->err, -ESTALE, "the directory was removed") : r;
}

/* The record of something that is replaced under its name, and of what was below it. */
static void drop_item(struct store_tx *tx, uint64_t parent, uint64_t number)
{
	struct key key = key_item(parent, KEY_FILE, number);

	store_delete(tx, &key);
	key = key_1(KEY_NAME, number);
	store_delete_all(tx, &key);
	key = key_1(KEY_ITEM, number);
	store_delete_all(tx, &key);
}

/* A directory is there as long as this row is. */
static struct key marker_of(uint64_t directory)
{
	return key_item(directory, KEY_NONE, 0);
}

/* What is saved or made has to be in a directory that is there. */
static int check_parent(struct store_tx *tx, const struct request *rq)
{
	CLEANUP(buf_release) struct buf value = { 0 };
	struct key marker = marker_of(rq->parent);
	int r;

	if (rq->parent == ref_number(rq->scope))
		return 0;
	r = store_get(tx, &marker, &value);
	return r == -ENOENT ? err_set(tx->err, -ESTALE, "the directory was removed") : r;
}

static int make_directory(struct store_tx *tx, void *arg)
{
	struct request *rq = arg;
	struct scope_info scope;
	struct key marker;
	int r = in_scope(tx, rq, &scope);

	if (r == 0)
		r = check_parent(tx, rq);
	if (r == 0)
		r = load_name(tx, rq->parent, rq->name, &rq->info);
	if (r == 0 && is_visible(&rq->info))
		return err_set(tx->err, -EEXIST, "there is '%s' already", rq->full_name);
	if (r < 0 && r != -ENOENT)
		return r;
	/* One that was removed comes back: the numbers below it stay used. */
	if (r == 0 && rq->info.is_directory)
		rq->new_number = rq->info.number;
	else if (r == 0)
		drop_item(tx, rq->parent, rq->info.number);
	rq->info = (struct artifact_info){ .number = rq->new_number,
					   .highest = r == 0 ? rq->info.highest : 0,
					   .is_directory = true,
					   .stamp = clock_stamp(),
					   .created = clock_now() };
	(void)snprintf(rq->info.name, sizeof rq->info.name, "%s", rq->name);
	(void)snprintf(rq->info.full_name, sizeof rq->info.full_name, "%s", rq->full_name);
	marker = marker_of(rq->info.number);
	store_put(tx, &marker, SPAN(""));
	save_item(tx, rq->parent, &rq->info);
	save_name(tx, rq->parent, &rq->info);
	r = touch_parent(tx, rq, &scope, rq->info.stamp);
	scope_save(tx, rq->scope, &scope);
	return r < 0 ? r : tell(tx, CHANGE_ARTIFACT_ADDED, rq);
}

int artifact_mkdir(struct store *st, struct ref scope, uint64_t parent, const char *name,
		   const char *full_name, struct artifact_info *out, struct err *err)
{
	struct request rq = {
		.scope = scope, .parent = parent, .name = name, .full_name = full_name
	};
	int r;

	if (strlen(full_name) >= sizeof rq.info.full_name)
		return err_set(err, -ENAMETOOLONG, "the artifact's name is over %zu bytes",
			       sizeof rq.info.full_name - 1);
	rq.new_number = store_new_number(st, err);
	if (!rq.new_number)
		return -EIO;
	r = store_update(st, make_directory, &rq, err);
	if (r == 0 && out)
		*out = rq.info;
	return r;
}

static int stop_at_first(void *arg, const struct artifact_info *info)
{
	(void)arg;
	(void)info;
	return 1;
}

static int remove_directory(struct store_tx *tx, void *arg)
{
	struct request *rq = arg;
	struct scope_info scope;
	struct listing inside = { .fn = stop_at_first };
	struct key marker;
	int r = in_scope(tx, rq, &scope);

	if (r == 0)
		r = find(tx, rq);
	if (r < 0)
		return r;
	if (!rq->info.is_directory)
		return err_set(tx->err, -ENOTDIR, "'%s' is not a directory", rq->info.full_name);
	inside.parent = rq->info.number;
	r = list(tx, &inside);
	if (r)
		return r < 0 ? r
			     : err_set(tx->err, -ENOTEMPTY, "'%s' is not empty",
				       rq->info.full_name);
	marker = marker_of(rq->info.number);
	store_delete(tx, &marker);
	rq->info.removed = true;
	rq->info.stamp = clock_stamp();
	save_item(tx, rq->parent, &rq->info);
	r = touch_parent(tx, rq, &scope, rq->info.stamp);
	scope_save(tx, rq->scope, &scope);
	return r < 0 ? r : tell(tx, CHANGE_ARTIFACT_REMOVED, rq);
}

int artifact_rmdir(struct store *st, struct ref scope, uint64_t parent, const char *name,
		   struct err *err)
{
	struct request rq = { .scope = scope, .parent = parent, .name = name };

	return store_update(st, remove_directory, &rq, err);
}

/* The event of a save: author user, artifactDelta {full name: n}. */
static void fill_event(struct event *e, const struct request *rq)
{
	CLEANUP(buf_release) struct buf delta = { 0 };
	char invocation[40];

	clock_new_id(invocation, "p-");
	event_set_text(e, EVENT_INVOCATION, span_of(invocation));
	event_set_text(e, EVENT_AUTHOR, SPAN("user"));
	buf_char(&delta, '{');
	json_quote(&delta,
		   span_of(rq->save->event_name ? rq->save->event_name : rq->save->full_name));
	buf_printf(&delta, ":%llu}", (unsigned long long)rq->version.n);
	e->text.failed |= delta.failed;
	event_set_action(e, ACTION_ARTIFACT_DELTA, buf_span(&delta));
}

/* The new version in rows; the artifact's record follows it. */
static int put_version(struct store_tx *tx, struct request *rq, uint64_t stamp)
{
	const struct artifact_save *save = rq->save;
	CLEANUP(buf_release) struct buf record = { 0 };
	struct artifact_info *a = &rq->info;
	struct version_info *v = &rq->version;
	struct key key;
	bool fresh;
	int r = check_parent(tx, rq);

	if (r == 0)
		r = load_name(tx, rq->parent, save->name, a);
	if (r < 0 && r != -ENOENT)
		return r;
	fresh = r == -ENOENT || !is_visible(a);
	if (r == 0 && a->is_directory && is_visible(a))
		return err_set(tx->err, -EISDIR, "'%s' is a directory", save->full_name);
	if (r == -ENOENT)
		*a = (struct artifact_info){ .created = clock_now() };
	if (r == 0 && a->is_directory) {
		drop_item(tx, rq->parent, a->number);
		*a = (struct artifact_info){ .created = clock_now(), .highest = a->highest };
	}
	if (fresh) {
		key = key_item(rq->parent, KEY_FILE, a->number);
		store_delete(tx, &key);
		a->number = rq->new_number;
		(void)snprintf(a->name, sizeof a->name, "%s", save->name);
		(void)snprintf(a->full_name, sizeof a->full_name, "%s", save->full_name);
	}
	*v = (struct version_info){ .n = a->highest + 1,
				    .number = rq->new_version,
				    .bulk = save->bulk,
				    .size = save->size,
				    .stamp = stamp,
				    .created = clock_now() };
	(void)snprintf(v->mime, sizeof v->mime, "%s", save->mime);
	a->latest = a->highest = v->n;
	a->size = v->size;
	a->stamp = a->versions_stamp = stamp;
	encode_version(v, &record);
	key = key_2(KEY_VERSION, a->number, v->n);
	store_put(tx, &key, buf_span(&record));
	save_item(tx, rq->parent, a);
	if (fresh)
		save_name(tx, rq->parent, a);
	if (save->bulk)
		bulk_publish(tx, save->bulk);
	r = tell(tx, fresh ? CHANGE_ARTIFACT_ADDED : CHANGE_ARTIFACT, rq);
	return r < 0 ? r : tell(tx, CHANGE_VERSION_ADDED, rq);
}

static int publish_in_session(struct store_tx *tx, struct request *rq, struct ref session)
{
	CLEANUP(session_release) struct session_tx s;
	CLEANUP(event_release) struct event e = { 0 };
	int r = session_begin(&s, tx, session);

	if (r == 0 && !rq->scope.session) {
		r = scope_load(tx, rq->scope, &s.user);
		s.has_user = r == 0;
	}
	if (r < 0)
		return r == -ENOENT ? err_set(tx->err, -ESTALE, "the session was removed") : r;
	r = put_version(tx, rq, s.stamp);
	if (r < 0)
		return r;
	fill_event(&e, rq);
	r = session_add(&s, &e);
	if (r == 0)
		r = touch_parent(tx, rq, s.has_user ? &s.user : &s.session, s.stamp);
	return r < 0 ? r : session_finish(&s);
}

static int load_version(struct store_tx *tx, uint64_t artifact, uint64_t n,
			struct version_info *out)
{
	CLEANUP(buf_release) struct buf record = { 0 };
	struct key key = key_2(KEY_VERSION, artifact, n);
	int r = store_get(tx, &key, &record);

	if (r == -ENOENT)
		return err_set(tx->err, r, "there is no version %llu", (unsigned long long)n);
	return r < 0 ? r : decode_version(buf_span(&record), n, out);
}

/* The open that saved a version wrote more: the same version, no second event. */
static int extend(struct store_tx *tx, struct request *rq)
{
	CLEANUP(buf_release) struct buf record = { 0 };
	struct scope_info scope;
	struct key key;
	int r = in_scope(tx, rq, &scope);

	if (r == 0)
		r = load_name(tx, rq->parent, rq->save->name, &rq->info);
	if (r == 0)
		r = load_version(tx, rq->info.number, rq->save->version, &rq->version);
	if (r == 0 && rq->version.bulk != rq->save->bulk)
		r = -ENOENT;
	if (r < 0)
		return r == -ENOENT ? err_set(tx->err, -ESTALE, "the version was removed") : r;
	rq->version.size = rq->save->size;
	rq->version.stamp = clock_stamp();
	(void)snprintf(rq->version.mime, sizeof rq->version.mime, "%s", rq->save->mime);
	encode_version(&rq->version, &record);
	key = key_2(KEY_VERSION, rq->info.number, rq->version.n);
	store_put(tx, &key, buf_span(&record));
	rq->info.stamp = rq->info.versions_stamp = rq->version.stamp;
	if (rq->info.latest == rq->version.n)
		rq->info.size = rq->version.size;
	save_item(tx, rq->parent, &rq->info);
	scope.stamp = rq->version.stamp;
	scope_save(tx, rq->scope, &scope);
	r = tell(tx, CHANGE_ARTIFACT, rq);
	return r < 0 ? r : tell(tx, CHANGE_VERSION_REMOVED, rq); /* sizes changed, no new name */
}

static int publish(struct store_tx *tx, void *arg)
{
	struct request *rq = arg;
	struct scope_info scope;
	int r;

	if (rq->save->version)
		return extend(tx, rq);
	if (rq->save->event_session.session)
		return publish_in_session(tx, rq, rq->save->event_session);
	if (rq->scope.session)
		return publish_in_session(tx, rq, rq->scope);
	r = in_scope(tx, rq, &scope);
	if (r == 0)
		r = put_version(tx, rq, clock_stamp());
	if (r < 0)
		return r;
	r = touch_parent(tx, rq, &scope, rq->info.stamp);
	scope_save(tx, rq->scope, &scope);
	return r;
}

int artifact_publish(struct store *st, const struct artifact_save *save, struct artifact_info *out,
		     struct err *err)
{
	struct request rq = { .scope = save->scope, .parent = save->parent, .save = save };
	int r;

	if (strlen(save->full_name) >= sizeof rq.info.full_name)
		return err_set(err, -ENAMETOOLONG, "the artifact's name is over %zu bytes",
			       sizeof rq.info.full_name - 1);
	rq.new_number = save->number ? save->number : store_new_number(st, err);
	rq.new_version = store_new_number(st, err);
	if (!rq.new_number || !rq.new_version)
		return -EIO;
	r = store_update(st, publish, &rq, err);
	if (r == 0 && out)
		*out = rq.info;
	return r;
}

struct collect {
	struct store_tx *tx;
	struct buf *bulks;
};

static int collect_version(void *arg, struct span key, struct span value)
{
	struct collect *c = arg;
	struct version_info v;
	int r = decode_version(value, key_last_number(key), &v);

	if (r < 0)
		return r;
	if (v.bulk) {
		bulk_abandon(c->tx, v.bulk);
		buf_add(c->bulks, &v.bulk, sizeof v.bulk);
	}
	return buf_check(c->bulks, NULL);
}

static int drop_versions(struct store_tx *tx, uint64_t artifact, struct buf *bulks)
{
	struct collect c = { tx, bulks };
	struct key prefix = key_1(KEY_VERSION, artifact);
	int r = store_scan(tx, &prefix, &prefix, collect_version, &c);

	store_delete_all(tx, &prefix);
	return r;
}

static int remove_name(struct store_tx *tx, void *arg)
{
	struct request *rq = arg;
	struct scope_info scope;
	int r = in_scope(tx, rq, &scope);

	buf_clear(&rq->bulks);
	if (r == 0)
		r = find(tx, rq);
	if (r < 0)
		return r;
	if (rq->info.is_directory)
		return err_set(tx->err, -EISDIR, "'%s' is a directory", rq->info.full_name);
	r = drop_versions(tx, rq->info.number, &rq->bulks);
	if (r < 0)
		return r;
	rq->info.latest = 0;
	rq->info.stamp = clock_stamp();
	save_item(tx, rq->parent, &rq->info);
	r = touch_parent(tx, rq, &scope, rq->info.stamp);
	scope_save(tx, rq->scope, &scope);
	return r < 0 ? r : tell(tx, CHANGE_ARTIFACT_REMOVED, rq);
}

int artifact_remove(struct store *st, struct ref scope, uint64_t parent, const char *name,
		    struct err *err)
{
	struct request rq = { .scope = scope, .parent = parent, .name = name };
	int r = store_update(st, remove_name, &rq, err);

	if (r == 0)
		artifact_remove_bulks(st, &rq.bulks);
	buf_release(&rq.bulks);
	return r;
}

void artifact_remove_bulks(struct store *st, const struct buf *bulks)
{
	size_t i;

	for (i = 0; i < bulks->len; i += sizeof(uint64_t)) {
		uint64_t number;

		memcpy(&number, bulks->data + i, sizeof number);
		bulk_remove(st, number);
	}
}

struct remove_all {
	struct store_tx *tx;
	struct buf *bulks;
};

static int remove_item(void *arg, struct span key, struct span value)
{
	struct remove_all *all = arg;
	uint64_t number = key_last_number(key);
	struct artifact_info info;
	struct key prefix;
	int r = decode(value, number, &info);

	if (r < 0)
		return r;
	if (!info.is_directory)
		return drop_versions(all->tx, number, all->bulks);
	r = artifact_remove_all(all->tx, number, all->bulks);
	prefix = key_1(KEY_NAME, number);
	store_delete_all(all->tx, &prefix);
	prefix = key_1(KEY_ITEM, number);
	store_delete_all(all->tx, &prefix);
	return r;
}

int artifact_remove_all(struct store_tx *tx, uint64_t parent, struct buf *bulks)
{
	struct remove_all all = { tx, bulks };
	struct key prefix = key_dir(KEY_ITEM, parent, KEY_FILE);

	return store_scan(tx, &prefix, &prefix, remove_item, &all);
}

static int stat_version(struct store_tx *tx, void *arg)
{
	struct request *rq = arg;

	return load_version(tx, rq->number, rq->n, &rq->version);
}

int artifact_version(struct store *st, uint64_t artifact, uint64_t n, struct version_info *out,
		     struct err *err)
{
	struct request rq = { .number = artifact, .n = n };
	int r = store_view(st, stat_version, &rq, err);

	if (r == 0)
		*out = rq.version;
	return r;
}

static int emit_version(void *arg, struct span key, struct span value)
{
	struct listing *l = arg;
	struct version_info v;
	int r = decode_version(value, key_last_number(key), &v);

	return r < 0 ? r : l->version(l->arg, &v);
}

static int list_versions(struct store_tx *tx, void *arg)
{
	struct listing *l = arg;
	struct key prefix = key_1(KEY_VERSION, l->parent);
	struct key from = key_2(KEY_VERSION, l->parent, l->after + 1);

	return store_scan(tx, &from, &prefix, emit_version, l);
}

int artifact_versions(struct store *st, uint64_t artifact, uint64_t after, version_fn *fn,
		      void *arg, struct err *err)
{
	struct listing l = { .parent = artifact, .after = after, .version = fn, .arg = arg };

	return store_view(st, list_versions, &l, err);
}

struct newest {
	uint64_t but; /* not this one */
	struct version_info found;
};

static int note_newest(void *arg, const struct version_info *v)
{
	struct newest *newest = arg;

	if (v->n != newest->but)
		newest->found = *v;
	return 0;
}

static int remove_version(struct store_tx *tx, void *arg)
{
	struct request *rq = arg;
	struct newest newest = { .but = rq->n };
	struct listing l = { .parent = rq->number, .version = note_newest, .arg = &newest };
	struct scope_info scope;
	struct key key;
	int r = in_scope(tx, rq, &scope);

	buf_clear(&rq->bulks);
	if (r == 0)
		r = stat_item(tx, rq);
	if (r == 0)
		r = load_version(tx, rq->number, rq->n, &rq->version);
	if (r == 0)
		r = list_versions(tx, &l);
	if (r < 0)
		return r;
	key = key_2(KEY_VERSION, rq->number, rq->n);
	store_delete(tx, &key);
	if (rq->version.bulk) {
		bulk_abandon(tx, rq->version.bulk);
		buf_add(&rq->bulks, &rq->version.bulk, sizeof rq->version.bulk);
	}
	rq->info.latest = newest.found.n;
	rq->info.size = newest.found.size;
	rq->info.stamp = rq->info.versions_stamp = clock_stamp();
	save_item(tx, rq->parent, &rq->info);
	r = touch_parent(tx, rq, &scope, rq->info.stamp);
	scope_save(tx, rq->scope, &scope);
	if (r == 0)
		r = tell(tx, newest.found.n ? CHANGE_ARTIFACT : CHANGE_ARTIFACT_REMOVED, rq);
	return r < 0 ? r : tell(tx, CHANGE_VERSION_REMOVED, rq);
}

int artifact_remove_version(struct store *st, struct ref scope, uint64_t parent, uint64_t artifact,
			    uint64_t n, struct err *err)
{
	struct request rq = { .scope = scope, .parent = parent, .number = artifact, .n = n };
	int r = store_update(st, remove_version, &rq, err);

	if (r == 0)
		artifact_remove_bulks(st, &rq.bulks);
	buf_release(&rq.bulks);
	return r;
}

/* A part of a URI: what is not unreserved or in `also` as %XX. */
static void uri_part(struct buf *out, const char *text, const char *also)
{
	static const char safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				   "-._~";

	for (; *text; text++) {
		if (strchr(safe, *text) || strchr(also, *text))
			buf_char(out, *text);
		else
			buf_printf(out, "%%%02X", (unsigned char)*text);
	}
}

void artifact_describe(struct buf *out, const char *app, const char *user, const char *session,
		       const struct artifact_info *artifact, const struct version_info *version)
{
	CLEANUP(buf_release) struct buf uri = { 0 };

	buf_text(&uri, "artifact://apps/");
	uri_part(&uri, app, "");
	buf_text(&uri, "/users/");
	uri_part(&uri, user, "");
	if (session) {
		buf_text(&uri, "/sessions/");
		uri_part(&uri, session, "");
	}
	buf_text(&uri, "/artifacts/");
	uri_part(&uri, artifact->full_name, "/");
	buf_printf(&uri, "/versions/%llu", (unsigned long long)version->n);
	buf_printf(out, "{\"version\":%llu,\"canonicalUri\":", (unsigned long long)version->n);
	json_quote(out, buf_span(&uri));
	buf_text(out, ",\"customMetadata\":{},\"createTime\":");
	model_time_print(out, version->created);
	buf_text(out, ",\"mimeType\":");
	json_quote(out, span_of(version->mime));
	buf_printf(out, ",\"size\":%llu}\n", (unsigned long long)version->size);
	out->failed |= uri.failed;
}
