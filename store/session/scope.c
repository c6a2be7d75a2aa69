/*
 * Scopes: see scope.h.
 *
 * Rows: KEY_NAME parent kind id -> number, KEY_ITEM parent kind number ->
 * scope_fields. The root has such a record too, under parent 0.
 */
#include "store/session/scope.h"

#include "base/clock.h"
#include "base/name.h"
#include "store/session/seal.h"
#include "store/tx/record.h"

#include <errno.h>
#include <stdio.h>

static enum key_kind kind_of(struct ref ref)
{
	return ref.session ? KEY_SESSION : ref.user ? KEY_USER : ref.app ? KEY_APP : KEY_NONE;
}

static const char *word_for(enum key_kind kind)
{
	return kind == KEY_SESSION ? "session" : kind == KEY_USER ? "user" : "app";
}

static uint64_t number_of(struct ref ref)
{
	uint64_t number = ref_number(ref);

	return number ? number : KEY_ROOT;
}

static struct key record_key(struct ref ref)
{
	if (!ref.app)
		return key_item(0, KEY_NONE, KEY_ROOT);
	return key_item(number_of(ref_parent(ref)), kind_of(ref), number_of(ref));
}

#define NUMBER(member) RECORD_NUMBER(struct scope_info, member)
#define TEXT(member)   RECORD_TEXT(struct scope_info, member)

/* The record of a scope. */
static const struct record_field scope_fields[] = {
	TEXT(id),
	NUMBER(created),
	NUMBER(updated),
	NUMBER(stamp),
	NUMBER(members_stamp),
	NUMBER(state_stamp),
	NUMBER(state_names_stamp),
	NUMBER(artifacts_stamp),
	NUMBER(turns_stamp),
	NUMBER(turn_stamp),
	NUMBER(log_stamp),
	NUMBER(log_size),
	RECORD_OLD_NUMBER, /* of KEY_SEAL */
	NUMBER(events),
	NUMBER(turns),
	NUMBER(members),
	NUMBER(rewinds),
	NUMBER(attachments),
	NUMBER(attachment_bytes),
	NUMBER(attachments_stamp),
	NUMBER(memory),
	NUMBER(memory_stamp),
	{ 0 },
};

static int decode(struct span record, uint64_t number, struct scope_info *info)
{
	struct record_reader r = { .left = record };

	*info = (struct scope_info){ .number = number };
	record_take(scope_fields, &r, info);
	return r.bad ? -EIO : 0;
}

int scope_load(struct store_tx *tx, struct ref ref, struct scope_info *info)
{
	CLEANUP(buf_release) struct buf record = { 0 };
	struct key key = record_key(ref);
	int r = store_get(tx, &key, &record);

	if (r == -ENOENT && !ref.app) { /* the root of an empty store */
		*info = (struct scope_info){ .number = KEY_ROOT };
		return 0;
	}
	if (r == -ENOENT)
		return err_set(tx->err, r, "the %s was removed", word_for(kind_of(ref)));
	if (r < 0)
		return r;
	r = decode(buf_span(&record), number_of(ref), info);
	return r < 0 ? err_set(tx->err, r, "the store has a damaged record") : 0;
}

int scope_need(struct store_tx *tx, struct ref ref, struct scope_info *info)
{
	int r = scope_load(tx, ref, info);

	return r == -ENOENT
		       ? err_set(tx->err, -ESTALE, "the %s was removed", word_for(kind_of(ref)))
		       : r;
}

void scope_save(struct store_tx *tx, struct ref ref, const struct scope_info *info)
{
	CLEANUP(buf_release) struct buf record = { 0 };
	struct key key = record_key(ref);

	record_put(scope_fields, info, &record);
	store_put(tx, &key, buf_span(&record));
}

struct request {
	struct ref parent;
	struct ref ref;
	const char *id;
	struct scope_info info;
};

static int tell(struct store_tx *tx, enum change_kind kind, struct ref ref, const char *id)
{
	struct change *change = store_add_change(tx, kind, ref);

	if (!change)
		return err_nomem(tx->err);
	(void)snprintf(change->name, sizeof change->name, "%s", id);
	return 0;
}

int scope_publish(struct store_tx *tx, struct ref ref, const struct scope_info *info)
{
	CLEANUP(buf_release) struct buf value = { 0 };
	struct ref up = ref_parent(ref);
	struct scope_info parent;
	enum key_kind kind = kind_of(ref);
	struct key name = key_name(number_of(up), kind, span_of(info->id));
	int r = scope_load(tx, up, &parent);

	if (r < 0)
		return r;
	r = store_get(tx, &name, &value);
	if (r == 0)
		return err_set(tx->err, -EEXIST, "there is a %s '%s' already", word_for(kind),
			       info->id);
	if (r != -ENOENT)
		return r;
	parent.members_stamp = info->stamp;
	parent.stamp = info->stamp;
	parent.members++;
	store_put_number(tx, &name, info->number);
	if (ref.session)
		seal_save(tx, ref.session, info->log_size);
	scope_save(tx, ref, info);
	scope_save(tx, up, &parent);
	return tell(tx, CHANGE_SCOPE_ADDED, ref, info->id);
}

static int create(struct store_tx *tx, void *arg)
{
	struct request *rq = arg;

	rq->info = (struct scope_info){ .number = number_of(rq->ref), .created = clock_now() };
	(void)snprintf(rq->info.id, sizeof rq->info.id, "%s", rq->id);
	rq->info.updated = rq->info.created;
	rq->info.stamp = clock_stamp();
	return scope_publish(tx, rq->ref, &rq->info);
}

int scope_check_id(const char *id, struct err *err)
{
	CLEANUP(buf_release) struct buf name = { 0 };

	return name_encode(span_of(id), NAME_PLAIN, &name, err);
}

int scope_create(struct store *st, struct ref parent, const char *id, struct ref *out,
		 struct scope_info *info, struct err *err)
{
	struct request rq = { .parent = parent, .id = id };
	uint64_t number;
	int r = scope_check_id(id, err);

	if (r < 0)
		return r;
	number = store_new_number(st, err);
	if (!number)
		return -EIO;
	rq.ref = ref_child(parent, number);
	r = store_update(st, create, &rq, err);
	if (r < 0)
		return r;
	if (out)
		*out = rq.ref;
	if (info)
		*info = rq.info;
	return 0;
}

static int find(struct store_tx *tx, void *arg)
{
	struct request *rq = arg;
	CLEANUP(buf_release) struct buf value = { 0 };
	enum key_kind kind = kind_of(ref_child(rq->parent, 1));
	struct key name = key_name(number_of(rq->parent), kind, span_of(rq->id));
	int r = store_get(tx, &name, &value);

	if (r == -ENOENT)
		return err_set(tx->err, r, "there is no %s '%s'", word_for(kind), rq->id);
	if (r < 0)
		return r;
	rq->ref = ref_child(rq->parent, key_last_number(buf_span(&value)));
	return scope_load(tx, rq->ref, &rq->info);
}

int scope_find(struct store *st, struct ref parent, const char *id, struct ref *out,
	       struct scope_info *info, struct err *err)
{
	struct request rq = { .parent = parent, .id = id };
	int r = store_view(st, find, &rq, err);

	if (r < 0)
		return r;
	if (out)
		*out = rq.ref;
	if (info)
		*info = rq.info;
	return 0;
}

static int load(struct store_tx *tx, void *arg)
{
	struct request *rq = arg;

	return scope_load(tx, rq->ref, &rq->info);
}

int scope_stat(struct store *st, struct ref ref, struct scope_info *info, struct err *err)
{
	struct request rq = { .ref = ref };
	int r = store_view(st, load, &rq, err);

	if (r == 0)
		*info = rq.info;
	return r;
}

struct stat_all {
	struct ref ref;
	struct scopes *out;
};

static int load_all(struct store_tx *tx, void *arg)
{
	const struct stat_all *all = arg;
	struct ref ref = all->ref;
	int r = ref.session ? scope_load(tx, ref, &all->out->session) : 0;

	ref.session = 0;
	if (r == 0 && ref.user)
		r = scope_load(tx, ref, &all->out->user);
	ref.user = 0;
	return r == 0 && ref.app ? scope_load(tx, ref, &all->out->app) : r;
}

int scope_stat_all(struct store *st, struct ref ref, struct scopes *out, struct err *err)
{
	struct stat_all all = { ref, out };

	*out = (struct scopes){ 0 };
	return store_view(st, load_all, &all, err);
}

struct listing {
	scope_fn *fn;
	void *arg;
};

static int emit(void *arg, struct span key, struct span value)
{
	struct listing *l = arg;
	struct scope_info info;
	int r = decode(value, key_last_number(key), &info);

	return r < 0 ? r : l->fn(l->arg, &info);
}

int scope_list(struct store *st, struct ref parent, uint64_t after, scope_fn *fn, void *arg,
	       struct err *err)
{
	enum key_kind kind = kind_of(ref_child(parent, 1));
	struct key prefix = key_dir(KEY_ITEM, number_of(parent), kind);
	struct key from = key_item(number_of(parent), kind, after + 1);
	struct listing l = { fn, arg };

	return store_rows(st, &from, &prefix, emit, &l, err);
}

const enum key_space scope_spaces[] = { KEY_NAME,        KEY_ITEM, KEY_LOG,        KEY_SEGMENT,
					KEY_EVENT,       KEY_TURN, KEY_QUEUE,      KEY_CALL,
					KEY_CALL_STDERR, KEY_MARK, KEY_ATTACHMENT, KEY_COMPACTION,
					KEY_SEAL,        0 };

int scope_unpublish(struct store_tx *tx, struct ref ref, const struct scope_info *info)
{
	struct ref up = ref_parent(ref);
	struct scope_info parent;
	struct key name = key_name(number_of(up), kind_of(ref), span_of(info->id));
	struct key record = record_key(ref);
	struct key queue = key_1(KEY_QUEUE, ref.session);
	struct key compactions = key_1(KEY_COMPACTION, ref.session);
	int r = scope_load(tx, up, &parent);

	if (r < 0)
		return r;
	store_delete(tx, &name);
	store_delete(tx, &record);
	if (ref.session) {
		seal_delete(tx, ref.session);
		store_delete_all(tx, &queue); /* a start that finds them would run the turns */
		store_delete_all(tx, &compactions);
	}
	parent.members--;
	parent.members_stamp = clock_stamp();
	parent.stamp = parent.members_stamp;
	scope_save(tx, up, &parent);
	return tell(tx, CHANGE_SCOPE_REMOVED, ref, info->id);
}

#define NUMBERS_BEFORE_SEAL 11 /* in a record of format 1, after the id */

static int convert_seal(struct store_tx *tx, struct span key, struct span value)
{
	struct record_reader r = { .left = value };
	uint64_t session = key_last_number(key);
	uint64_t seal;
	uint64_t there;
	size_t i;
	int e;

	if (!key_is_item(key, KEY_SESSION))
		return 0;
	(void)record_take_text(&r);
	for (i = 0; i < NUMBERS_BEFORE_SEAL; i++)
		(void)record_take_number(&r);
	seal = record_take_number(&r);
	if (r.bad)
		return err_set(tx->err, -EIO, "the store has a damaged record");
	e = seal_load(tx, session, &there);
	if (e != -ENOENT)
		return e;
	seal_save(tx, session, seal);
	return 0;
}

int scope_convert_seals(struct store *st, struct err *err)
{
	struct key prefix = key_space(KEY_ITEM);

	return store_convert(st, &prefix, convert_seal, err);
}
