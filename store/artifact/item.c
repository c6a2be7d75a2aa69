/*
 * Rows of artifacts: see item.h.
 */
#include "store/artifact/item.h"

#include "base/clock.h"
#include "store/tx/record.h"

#include <errno.h>
#include <stdio.h>

#define NUMBER(member) RECORD_NUMBER(struct artifact_info, member)
#define TEXT(member)   RECORD_TEXT(struct artifact_info, member)

static const struct record_field item_fields[] = {
	NUMBER(is_directory),   TEXT(name),         TEXT(full_name),    NUMBER(stamp),
	NUMBER(created),        NUMBER(latest),     NUMBER(highest),    NUMBER(size),
	NUMBER(versions_stamp), NUMBER(removed),    NUMBER(history),    NUMBER(changed),
	NUMBER(tombstone),      NUMBER(attr.has),   NUMBER(attr.mode),  NUMBER(attr.uid),
	NUMBER(attr.gid),       NUMBER(attr.mtime), NUMBER(attr.atime), { 0 },
};

int item_decode(struct span record, uint64_t number, struct artifact_info *a)
{
	struct record_reader r = { .left = record };

	*a = (struct artifact_info){ .number = number };
	record_take(item_fields, &r, a);
	if (!a->history)
		a->history = number;
	a->changed = MAX(a->changed, a->stamp);
	return r.bad ? -EIO : 0;
}

bool item_is_visible(const struct artifact_info *a)
{
	return !a->removed && (a->is_directory || a->latest);
}

int item_load(struct store_tx *tx, uint64_t parent, uint64_t number, struct artifact_info *out)
{
	CLEANUP(buf_release) struct buf record = { 0 };
	struct key key = key_item(parent, KEY_FILE, number);
	int r = store_get(tx, &key, &record);

	if (r == -ENOENT)
		return err_set(tx->err, r, "the artifact was removed");
	return r < 0 ? r : item_decode(buf_span(&record), number, out);
}

int item_load_name(struct store_tx *tx, uint64_t parent, const char *name,
		   struct artifact_info *out)
{
	CLEANUP(buf_release) struct buf value = { 0 };
	struct key key = key_name(parent, KEY_FILE, span_of(name));
	int r = store_get(tx, &key, &value);

	return r < 0 ? r : item_load(tx, parent, key_last_number(buf_span(&value)), out);
}

void item_save(struct store_tx *tx, uint64_t parent, const struct artifact_info *a)
{
	CLEANUP(buf_release) struct buf record = { 0 };
	struct key key = key_item(parent, KEY_FILE, a->number);

	record_put(item_fields, a, &record);
	store_put(tx, &key, buf_span(&record));
}

void item_save_name(struct store_tx *tx, uint64_t parent, const struct artifact_info *a)
{
	struct key key = key_name(parent, KEY_FILE, span_of(a->name));

	store_put_number(tx, &key, a->number);
}

int item_tell(struct store_tx *tx, enum change_kind kind, struct ref scope, uint64_t parent,
	      const struct artifact_info *a, const struct version_info *v)
{
	struct change *change = store_add_change(tx, kind, scope);

	if (!change)
		return err_nomem(tx->err);
	change->parent = parent;
	change->item = a->number;
	change->history = a->history;
	change->version = v ? v->n : 0;
	change->version_item = v ? v->number : 0;
	change->keeps_time = a->attr.has & ATTR_MTIME;
	(void)snprintf(change->name, sizeof change->name, "%s", a->name);
	return 0;
}

struct key item_marker(uint64_t directory)
{
	return key_item(directory, KEY_NONE, 0);
}

void item_save_marker(struct store_tx *tx, uint64_t directory, uint64_t stamp, bool is_set,
		      int64_t mtime)
{
	CLEANUP(buf_release) struct buf record = { 0 };
	struct key key = item_marker(directory);

	record_number(&record, stamp);
	record_number(&record, is_set);
	record_number(&record, (uint64_t)mtime);
	store_put(tx, &key, buf_span(&record));
}

int item_load_marker(struct store_tx *tx, struct artifact_info *a)
{
	CLEANUP(buf_release) struct buf record = { 0 };
	struct key key = item_marker(a->number);
	struct record_reader reader;
	uint64_t stamp;
	int r = store_get(tx, &key, &record);

	if (r < 0)
		return r == -ENOENT ? err_set(tx->err, r, "the directory was removed") : r;
	reader = (struct record_reader){ .left = buf_span(&record) };
	stamp = record_take_number(&reader);
	a->stamp = MAX(a->stamp, stamp);
	a->changed = MAX(a->changed, a->stamp);
	a->attr.has &= ~(unsigned)ATTR_MTIME;
	if (record_take_number(&reader))
		a->attr.has |= ATTR_MTIME;
	a->attr.mtime = (int64_t)record_take_number(&reader);
	return 0;
}

void item_drop(struct store_tx *tx, uint64_t parent, uint64_t number)
{
	struct key key = key_item(parent, KEY_FILE, number);

	store_delete(tx, &key);
	key = key_1(KEY_NAME, number);
	store_delete_all(tx, &key);
	key = key_1(KEY_ITEM, number);
	store_delete_all(tx, &key);
}

int item_claim(struct store_tx *tx, uint64_t parent, const char *name, const char *full_name,
	       uint64_t number, struct artifact_info *a)
{
	struct artifact_info old = { 0 };
	struct key key;
	int r = item_load_name(tx, parent, name, &old);

	if (r < 0 && r != -ENOENT)
		return r;
	if (r == 0 && old.is_directory && item_is_visible(&old))
		return err_set(tx->err, -EISDIR, "'%s' is a directory", full_name);
	*a = old;
	if (r == 0 && item_is_visible(&old))
		return 1;
	if (r == 0 && old.is_directory) {
		item_drop(tx, parent, old.number);
	} else if (r == 0) {
		key = key_item(parent, KEY_FILE, old.number);
		store_delete(tx, &key);
	}
	*a = (struct artifact_info){ .number = number,
				     .history = r == 0 ? old.history : number,
				     .highest = old.highest,
				     .created = clock_now() };
	(void)snprintf(a->name, sizeof a->name, "%s", name);
	(void)snprintf(a->full_name, sizeof a->full_name, "%s", full_name);
	return 0;
}

void item_note_version(struct artifact_info *a, const struct version_info *v)
{
	a->changed = a->versions_stamp = v->stamp;
	if (v->n < a->highest && a->latest > v->n) /* an old number that was free */
		return;
	a->latest = v->is_tombstone ? 0 : v->n;
	a->tombstone = v->is_tombstone ? v->n : 0;
	a->size = v->size;
	a->stamp = v->stamp;
	a->attr.has &= ~(unsigned)(ATTR_MTIME | ATTR_ATIME);
}
