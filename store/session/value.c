/*
 * Values of state keys: see value.h.
 *
 * Rows: KEY_NAME scope KEY_STATE key -> record: item, stamp, text;
 * KEY_ITEM scope KEY_STATE item -> record: key.
 */
#include "store/session/value.h"

#include "store/tx/key.h"
#include "store/tx/record.h"

#include <errno.h>
#include <stdio.h>

int state_decode(struct span record, struct state_value *v)
{
	struct record_reader r = { .left = record };

	v->info.item = record_take_number(&r);
	v->info.stamp = record_take_number(&r);
	v->text = record_take_text(&r);
	v->info.size = v->text.len;
	return r.bad ? -EIO : 0;
}

static int tell(struct store_tx *tx, enum change_kind kind, struct ref scope, uint64_t item,
		struct span key)
{
	struct change *change = store_add_change(tx, kind, scope);

	if (!change)
		return err_nomem(tx->err);
	change->item = item;
	(void)snprintf(change->name, sizeof change->name, "%.*s", (int)key.len, key.data);
	return 0;
}

int state_put(struct store_tx *tx, struct ref scope, struct scope_info *info, struct span key,
	      struct span text, uint64_t stamp)
{
	CLEANUP(buf_release) struct buf record = { 0 };
	uint64_t number = ref_number(scope);
	struct key name = key_name(number, KEY_STATE, key);
	struct state_value old = { 0 };
	int r = store_get(tx, &name, &record);
	bool added = r == -ENOENT;

	if (r < 0 && !added)
		return r;
	r = added ? 0 : state_decode(buf_span(&record), &old);
	if (added) {
		old.info.item = tx->number ? tx->number : store_tx_number(tx);
		tx->number = 0;
	}
	if (r < 0 || !old.info.item)
		return -EIO;
	buf_clear(&record);
	record_number(&record, old.info.item);
	record_number(&record, stamp);
	record_text(&record, text);
	r = buf_check(&record, tx->err);
	if (r < 0)
		return r;
	store_put(tx, &name, buf_span(&record));
	if (added) {
		struct key item = key_item(number, KEY_STATE, old.info.item);

		buf_clear(&record);
		record_text(&record, key);
		store_put(tx, &item, buf_span(&record));
		info->state_names_stamp = stamp;
	}
	info->state_stamp = stamp;
	info->stamp = stamp;
	return tell(tx, added ? CHANGE_STATE_ADDED : CHANGE_STATE, scope, old.info.item, key);
}

int state_drop(struct store_tx *tx, struct ref scope, struct scope_info *info, struct span key,
	       uint64_t stamp)
{
	CLEANUP(buf_release) struct buf record = { 0 };
	uint64_t number = ref_number(scope);
	struct key name = key_name(number, KEY_STATE, key);
	struct key item;
	struct state_value old = { 0 };
	int r = store_get(tx, &name, &record);

	if (r == -ENOENT)
		return 0;
	if (r == 0)
		r = state_decode(buf_span(&record), &old);
	if (r < 0)
		return r;
	item = key_item(number, KEY_STATE, old.info.item);
	store_delete(tx, &name);
	store_delete(tx, &item);
	info->state_stamp = stamp;
	info->state_names_stamp = stamp;
	info->stamp = stamp;
	return tell(tx, CHANGE_STATE_REMOVED, scope, old.info.item, key);
}
