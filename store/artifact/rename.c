/*
 * Renaming artifacts: see artifact.h.
 */
#include "base/clock.h"
#include "store/artifact/tx.h"

#include <errno.h>
#include <stdio.h>

/* Keep a record of the old name, so that its version numbers stay used. */
static void leave_name(struct store_tx *tx, const struct artifact_rename *rn,
		       const struct artifact_info *from, uint64_t number, uint64_t stamp)
{
	struct artifact_info left = *from;
	struct key key = key_item(rn->parent, KEY_FILE, from->number);

	store_delete(tx, &key);
	left.number = number;
	left.latest = left.tombstone = 0;
	left.attr = (struct artifact_attr){ 0 };
	left.stamp = left.changed = stamp;
	item_save(tx, rn->parent, &left);
	item_save_name(tx, rn->parent, &left);
}

/* Save the latest version of `from` as a new version of `to`, which item_claim() found. */
static int put_renamed(struct store_tx *tx, struct artifact_request *rq,
		       const struct artifact_info *from, struct artifact_info *to, uint64_t stamp)
{
	CLEANUP(extents_release) struct extents map = { 0 };
	CLEANUP(buf_release) struct buf meta = { 0 };
	struct version_info *v = &rq->version;
	int r = version_load(tx, from->history, from->latest, v, &meta);

	if (r == 0)
		r = version_map(tx, from->history, v, &map);
	if (r < 0)
		return r;
	v->n = 0;
	v->number = rq->new_version;
	v->stamp = stamp;
	v->created = clock_now();
	if (!v->is_typed)
		(void)snprintf(v->mime, sizeof v->mime, "%s", rq->mime);
	r = version_take_number(tx, to->history, &to->highest, &v->n);
	if (r == 0)
		r = version_save(tx, to->history, v, buf_span(&meta), &map);
	if (r < 0)
		return r;
	item_note_version(to, v);
	to->attr = from->attr;
	if (!(to->attr.has & ATTR_MTIME)) { /* a rename does not change it */
		to->attr.has |= ATTR_MTIME;
		to->attr.mtime = (int64_t)from->stamp;
	}
	return 0;
}

static int rename_file(struct store_tx *tx, struct artifact_request *rq, struct scope_info *scope,
		       uint64_t stamp)
{
	const struct artifact_rename *rn = rq->rename;
	struct artifact_info from = rq->info;
	struct artifact_info *to = &rq->info;
	struct artifact_info replaced;
	struct key key;
	int r = artifact_check_parent(tx, rn->scope, rn->new_parent);

	if (r == 0)
		r = item_claim(tx, rn->new_parent, rn->new_name, rn->new_full_name, from.number,
			       to);
	if (r < 0)
		return r;
	if (r == 1 && rn->must_be_new)
		return err_set(tx->err, -EEXIST, "there is '%s' already", rn->new_full_name);
	if (r == 1) {
		replaced = *to;
		key = key_item(rn->new_parent, KEY_FILE, replaced.number);
		store_delete(tx, &key);
		to->number = from.number;
		r = item_tell(tx, CHANGE_ARTIFACT_REPLACED, rn->scope, rn->new_parent, &replaced,
			      NULL);
	} else if (to->history == from.number) { /* which stays with the old name */
		to->history = rq->new_number;
	}
	if (r == 0)
		r = put_renamed(tx, rq, &from, to, stamp);
	if (r == 0)
		r = version_drop_all(tx, rn->scope, from.history, &rq->dead);
	if (r < 0)
		return r;
	leave_name(tx, rn, &from, store_tx_number(tx), stamp);
	item_save(tx, rn->new_parent, to);
	item_save_name(tx, rn->new_parent, to);
	artifact_touch_list(tx, rn->scope, rn->parent, scope, stamp);
	artifact_touch_list(tx, rn->scope, rn->new_parent, scope, stamp);
	r = item_tell(tx, CHANGE_ARTIFACT_MOVED, rn->scope, rn->parent, &from, NULL);
	if (r == 0)
		r = item_tell(tx, CHANGE_ARTIFACT_ADDED, rn->scope, rn->new_parent, to, NULL);
	return r < 0 ? r
		     : item_tell(tx, CHANGE_VERSION_ADDED, rn->scope, rn->new_parent, to,
				 &rq->version);
}

/* Check a directory's new name: it must be free, or an empty directory, which is replaced. */
static int claim_directory(struct store_tx *tx, const struct artifact_rename *rn)
{
	struct artifact_info old;
	int r = item_load_name(tx, rn->new_parent, rn->new_name, &old);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (item_is_visible(&old) && rn->must_be_new)
		return err_set(tx->err, -EEXIST, "there is '%s' already", rn->new_full_name);
	if (item_is_visible(&old) && !old.is_directory)
		return err_set(tx->err, -ENOTDIR, "'%s' is not a directory", rn->new_full_name);
	r = old.is_directory && item_is_visible(&old) ? artifact_has_entries(tx, old.number) : 0;
	if (r)
		return r < 0 ? r
			     : err_set(tx->err, -ENOTEMPTY, "'%s' is not empty", rn->new_full_name);
	if (item_is_visible(&old))
		r = item_tell(tx, CHANGE_ARTIFACT_REPLACED, rn->scope, rn->new_parent, &old, NULL);
	item_drop(tx, rn->new_parent, old.number);
	return r;
}

static int rename_directory(struct store_tx *tx, struct artifact_request *rq,
			    struct scope_info *scope, uint64_t stamp)
{
	const struct artifact_rename *rn = rq->rename;
	struct artifact_info from = rq->info;
	struct key key;
	int r = artifact_has_entries(tx, from.number);

	if (r)
		return r < 0 ? r
			     : err_set(tx->err, -EXDEV,
				       "'%s' holds artifacts, whose names would change",
				       from.full_name);
	r = artifact_check_parent(tx, rn->scope, rn->new_parent);
	if (r == 0)
		r = claim_directory(tx, rn);
	if (r < 0)
		return r;
	key = key_item(rn->parent, KEY_FILE, from.number);
	store_delete(tx, &key);
	key = key_name(rn->parent, KEY_FILE, span_of(rn->name));
	store_delete(tx, &key);
	(void)snprintf(rq->info.name, sizeof rq->info.name, "%s", rn->new_name);
	(void)snprintf(rq->info.full_name, sizeof rq->info.full_name, "%s", rn->new_full_name);
	rq->info.changed = stamp;
	rq->version.n = 0; /* no version, no event */
	item_save(tx, rn->new_parent, &rq->info);
	item_save_name(tx, rn->new_parent, &rq->info);
	artifact_touch_list(tx, rn->scope, rn->parent, scope, stamp);
	artifact_touch_list(tx, rn->scope, rn->new_parent, scope, stamp);
	r = item_tell(tx, CHANGE_ARTIFACT_MOVED, rn->scope, rn->parent, &from, NULL);
	return r < 0 ? r
		     : item_tell(tx, CHANGE_ARTIFACT_ADDED, rn->scope, rn->new_parent, &rq->info,
				 NULL);
}

static int rename_any(struct store_tx *tx, struct artifact_request *rq, struct scope_info *scope,
		      uint64_t stamp)
{
	int r;

	rq->name = rq->rename->name;
	rq->parent = rq->rename->parent;
	buf_clear(&rq->dead);
	r = artifact_find_tx(tx, rq);
	if (r < 0)
		return r;
	return rq->info.is_directory ? rename_directory(tx, rq, scope, stamp)
				     : rename_file(tx, rq, scope, stamp);
}

static int rename_tx(struct store_tx *tx, void *arg)
{
	struct artifact_request *rq = arg;

	if (rq->scope.session)
		return artifact_save_in_session(tx, rq, rq->scope, NULL, rename_any);
	return artifact_save_at_user(tx, rq, rename_any);
}

int artifact_rename(struct store *st, const struct artifact_rename *rename,
		    struct artifact_info *out, struct err *err)
{
	struct artifact_request rq = { .scope = rename->scope,
				       .rename = rename,
				       .mime = rename->mime };
	int r = artifact_check_full_name(rename->new_full_name, err);

	if (r == 0)
		r = artifact_take_numbers(st, &rq, err);
	if (r == 0)
		r = artifact_update(st, rename_tx, &rq, err);
	if (r == 0 && out)
		*out = rq.info;
	return r;
}
