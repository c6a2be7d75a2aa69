/*
 * Artifacts: see artifact.h. item.c and version.c have the rows, publish.c saves versions,
 * versions.c has operations on saved ones, rename.c changes names, and copy.c serves forks and
 * rewinds.
 */
#include "store/artifact/artifact.h"

#include "base/clock.h"
#include "store/artifact/tx.h"

#include <errno.h>
#include <stdio.h>

int artifact_check_parent(struct store_tx *tx, struct ref scope, uint64_t parent)
{
	CLEANUP(buf_release) struct buf value = { 0 };
	struct key marker = item_marker(parent);
	int r;

	if (parent == ref_number(scope))
		return 0;
	r = store_get(tx, &marker, &value);
	return r == -ENOENT ? err_set(tx->err, -ESTALE, "the directory was removed") : r;
}

void artifact_touch_list(struct store_tx *tx, struct ref scope, uint64_t parent,
			 struct scope_info *info, uint64_t stamp)
{
	info->stamp = stamp;
	if (parent == ref_number(scope))
		info->artifacts_stamp = stamp;
	else
		item_save_marker(tx, parent, stamp, false, 0);
}

/* Finding and listing. */

int artifact_find_tx(struct store_tx *tx, void *arg)
{
	struct artifact_request *rq = arg;
	int r = item_load_name(tx, rq->parent, rq->name, &rq->info);

	if (r == 0 && !item_is_visible(&rq->info) && !(rq->versions && rq->info.tombstone))
		r = -ENOENT;
	return r == -ENOENT ? err_set(tx->err, r, "there is no artifact '%s'", rq->name) : r;
}

static int find_with(struct store *st, struct artifact_request *rq, struct artifact_info *out,
		     struct err *err)
{
	int r = store_view(st, artifact_find_tx, rq, err);

	if (r == 0)
		*out = rq->info;
	return r;
}

int artifact_find(struct store *st, uint64_t parent, const char *name, struct artifact_info *out,
		  struct err *err)
{
	struct artifact_request rq = { .parent = parent, .name = name };

	return find_with(st, &rq, out, err);
}

int artifact_find_versions(struct store *st, uint64_t parent, const char *name,
			   struct artifact_info *out, struct err *err)
{
	struct artifact_request rq = { .parent = parent, .name = name, .versions = true };

	return find_with(st, &rq, out, err);
}

static int stat_item(struct store_tx *tx, void *arg)
{
	struct artifact_request *rq = arg;
	int r = item_load(tx, rq->parent, rq->number, &rq->info);

	if (r == 0 && !item_is_visible(&rq->info))
		r = err_set(tx->err, -ENOENT, "the artifact was removed");
	if (r == 0 && rq->info.is_directory)
		r = item_load_marker(tx, &rq->info);
	return r;
}

int artifact_stat(struct store *st, uint64_t parent, uint64_t number, struct artifact_info *out,
		  struct err *err)
{
	struct artifact_request rq = { .parent = parent, .number = number };
	int r = store_view(st, stat_item, &rq, err);

	if (r == 0)
		*out = rq.info;
	return r;
}

static int resolve(struct store_tx *tx, void *arg)
{
	struct artifact_request *rq = arg;
	const char *name = rq->full_name;
	int r = 0;

	rq->parent = ref_number(rq->scope);
	while (r == 0) {
		CLEANUP(buf_release) struct buf part = { 0 };
		const char *slash = strchr(name, '/');

		buf_add(&part, name, slash ? (size_t)(slash - name) : strlen(name));
		rq->name = buf_cstr(&part);
		if (!rq->name)
			return err_nomem(tx->err);
		r = artifact_find_tx(tx, rq);
		if (r < 0 || !slash)
			return r;
		rq->parent = rq->info.number;
		name = slash + 1;
	}
	return r;
}

int artifact_resolve(struct store *st, struct ref scope, const char *full_name, uint64_t *parent,
		     struct artifact_info *out, struct err *err)
{
	struct artifact_request rq = { .scope = scope, .full_name = full_name, .versions = true };
	int r = store_view(st, resolve, &rq, err);

	if (r < 0)
		return r;
	*out = rq.info;
	if (parent)
		*parent = rq.parent;
	return 0;
}

struct listing {
	uint64_t parent;
	uint64_t after;
	bool versions;
	artifact_fn *fn;
	void *arg;
};

static int emit(void *arg, struct span key, struct span value)
{
	struct listing *l = arg;
	struct artifact_info info;
	int r = item_decode(value, key_last_number(key), &info);

	if (r < 0)
		return r;
	if (!item_is_visible(&info) && !(l->versions && info.tombstone))
		return 0;
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

int artifact_list_versions(struct store *st, uint64_t parent, uint64_t after, artifact_fn *fn,
			   void *arg, struct err *err)
{
	struct listing l = {
		.parent = parent, .after = after, .versions = true, .fn = fn, .arg = arg
	};

	return store_view(st, list, &l, err);
}

static int stop_at_first(void *arg, const struct artifact_info *info)
{
	(void)arg;
	(void)info;
	return 1;
}

int artifact_has_entries(struct store_tx *tx, uint64_t directory)
{
	struct listing inside = { .parent = directory, .versions = true, .fn = stop_at_first };

	return list(tx, &inside);
}

int artifact_put_directory(struct store_tx *tx, struct artifact_request *rq,
			   struct scope_info *scope, uint64_t stamp)
{
	struct artifact_info old;
	uint64_t number = rq->new_number;
	int r = artifact_check_parent(tx, rq->scope, rq->parent);

	if (r == 0)
		r = item_load_name(tx, rq->parent, rq->name, &old);
	if (r == 0 && (item_is_visible(&old) || old.tombstone))
		return err_set(tx->err, -EEXIST, "there is '%s' already", rq->full_name);
	if (r < 0 && r != -ENOENT)
		return r;
	/* A removed directory comes back: the numbers below it stay used. */
	if (r == 0 && old.is_directory)
		number = old.number;
	else if (r == 0)
		item_drop(tx, rq->parent, old.number);
	rq->info = (struct artifact_info){ .number = number,
					   .history = r == 0 ? old.history : number,
					   .highest = r == 0 ? old.highest : 0,
					   .is_directory = true,
					   .stamp = stamp,
					   .changed = stamp,
					   .created = clock_now() };
	if (rq->attr)
		rq->info.attr = *rq->attr;
	(void)snprintf(rq->info.name, sizeof rq->info.name, "%s", rq->name);
	(void)snprintf(rq->info.full_name, sizeof rq->info.full_name, "%s", rq->full_name);
	item_save_marker(tx, number, stamp, false, 0);
	item_save(tx, rq->parent, &rq->info);
	item_save_name(tx, rq->parent, &rq->info);
	artifact_touch_list(tx, rq->scope, rq->parent, scope, stamp);
	return item_tell(tx, CHANGE_ARTIFACT_ADDED, rq->scope, rq->parent, &rq->info, NULL);
}

static int make_directory(struct store_tx *tx, void *arg)
{
	struct artifact_request *rq = arg;
	struct scope_info scope;
	int r = scope_need(tx, rq->scope, &scope);

	if (r == 0)
		r = artifact_put_directory(tx, rq, &scope, clock_stamp());
	if (r == 0)
		scope_save(tx, rq->scope, &scope);
	return r;
}

int artifact_check_full_name(const char *full_name, struct err *err)
{
	struct artifact_info *none = NULL;

	if (strlen(full_name) >= sizeof none->full_name)
		return err_set(err, -ENAMETOOLONG, "the artifact's name is over %zu bytes",
			       sizeof none->full_name - 1);
	return 0;
}

int artifact_mkdir(struct store *st, struct artifact_name at, const char *full_name,
		   const struct artifact_attr *attr, struct artifact_info *out, struct err *err)
{
	struct artifact_request rq = { .scope = at.scope,
				       .parent = at.parent,
				       .name = at.name,
				       .full_name = full_name,
				       .attr = attr };
	int r = artifact_check_full_name(full_name, err);

	if (r < 0)
		return r;
	rq.new_number = store_new_number(st, err);
	if (!rq.new_number)
		return -EIO;
	r = store_update(st, make_directory, &rq, err);
	if (r == 0 && out)
		*out = rq.info;
	return r;
}

static int remove_directory(struct store_tx *tx, void *arg)
{
	struct artifact_request *rq = arg;
	struct scope_info scope;
	struct key marker;
	int r = scope_need(tx, rq->scope, &scope);

	if (r == 0)
		r = artifact_find_tx(tx, rq);
	if (r < 0)
		return r;
	if (!rq->info.is_directory)
		return err_set(tx->err, -ENOTDIR, "'%s' is not a directory", rq->info.full_name);
	r = artifact_has_entries(tx, rq->info.number);
	if (r)
		return r < 0 ? r
			     : err_set(tx->err, -ENOTEMPTY, "'%s' is not empty",
				       rq->info.full_name);
	marker = item_marker(rq->info.number);
	store_delete(tx, &marker);
	rq->info.removed = true;
	rq->info.stamp = rq->info.changed = clock_stamp();
	item_save(tx, rq->parent, &rq->info);
	artifact_touch_list(tx, rq->scope, rq->parent, &scope, rq->info.stamp);
	scope_save(tx, rq->scope, &scope);
	return item_tell(tx, CHANGE_ARTIFACT_REMOVED, rq->scope, rq->parent, &rq->info, NULL);
}

int artifact_rmdir(struct store *st, struct artifact_name at, struct err *err)
{
	struct artifact_request rq = { .scope = at.scope, .parent = at.parent, .name = at.name };

	return store_update(st, remove_directory, &rq, err);
}

static int set_attr(struct store_tx *tx, void *arg)
{
	struct artifact_request *rq = arg;
	struct artifact_attr attr = *rq->attr;
	struct scope_info scope;
	int r = scope_need(tx, rq->scope, &scope);

	if (r == 0)
		r = stat_item(tx, rq);
	if (r < 0)
		return r;
	attr_merge(&rq->info.attr, &attr);
	rq->info.changed = clock_stamp();
	if (rq->info.is_directory && (attr.has & ATTR_MTIME))
		item_save_marker(tx, rq->info.number, rq->info.stamp, true, attr.mtime);
	item_save(tx, rq->parent, &rq->info);
	return item_tell(tx, CHANGE_ARTIFACT, rq->scope, rq->parent, &rq->info, NULL);
}

int artifact_set_attr(struct store *st, struct ref scope, uint64_t parent, uint64_t number,
		      const struct artifact_attr *attr, struct err *err)
{
	struct artifact_request rq = {
		.scope = scope, .parent = parent, .number = number, .attr = attr
	};

	return store_update(st, set_attr, &rq, err);
}

/* Removing. */

static int remove_name(struct store_tx *tx, void *arg)
{
	struct artifact_request *rq = arg;
	struct scope_info scope;
	int r = scope_need(tx, rq->scope, &scope);

	buf_clear(&rq->dead);
	if (r == 0)
		r = artifact_find_tx(tx, rq);
	if (r < 0)
		return r;
	if (rq->info.is_directory)
		return err_set(tx->err, -EISDIR, "'%s' is a directory", rq->info.full_name);
	r = version_drop_all(tx, rq->scope, rq->info.history, &rq->dead);
	if (r < 0)
		return r;
	rq->info.latest = rq->info.tombstone = 0;
	rq->info.attr = (struct artifact_attr){ 0 };
	rq->info.stamp = rq->info.changed = clock_stamp();
	item_save(tx, rq->parent, &rq->info);
	artifact_touch_list(tx, rq->scope, rq->parent, &scope, rq->info.stamp);
	scope_save(tx, rq->scope, &scope);
	return item_tell(tx, CHANGE_ARTIFACT_REMOVED, rq->scope, rq->parent, &rq->info, NULL);
}

int artifact_update(struct store *st, store_tx_fn *fn, struct artifact_request *rq, struct err *err)
{
	int r = store_update(st, fn, rq, err);

	if (r == 0)
		artifact_remove_bulks(st, &rq->dead);
	buf_release(&rq->dead);
	return r;
}

int artifact_remove(struct store *st, struct artifact_name at, struct err *err)
{
	struct artifact_request rq = { .scope = at.scope, .parent = at.parent, .name = at.name };

	return artifact_update(st, remove_name, &rq, err);
}

void artifact_remove_bulks(struct store *st, const struct buf *dead)
{
	size_t count;
	const uint64_t *numbers = BUF_LIST(uint64_t, dead, &count);
	size_t i;

	for (i = 0; i < count; i++)
		bulk_remove(st, numbers[i]);
}

/* Removing the rows of a directory, a part at a time. */
struct removing {
	struct store_tx *tx;
	uint64_t directory;
	uint64_t history; /* of the file whose versions are removed */
	size_t *budget;
	struct buf *dead;
};

static int spend(struct removing *rm)
{
	--*rm->budget;
	return *rm->budget == 0;
}

static int remove_version(void *arg, const struct version_info *v)
{
	struct removing *rm = arg;
	int r = version_drop(rm->tx, rm->history, v, rm->dead);

	return r < 0 ? r : spend(rm);
}

static int remove_item(void *arg, struct span key, struct span value)
{
	struct removing *rm = arg;
	uint64_t number = key_last_number(key);
	struct artifact_info info;
	struct key row;
	int r = item_decode(value, number, &info);

	if (r < 0)
		return r;
	rm->history = info.history;
	r = version_scan(rm->tx, info.history, 0, remove_version, rm);
	if (r == 0 && info.is_directory)
		r = artifact_remove_some(rm->tx, number, rm->budget, rm->dead);
	if (r)
		return r;
	row = key_2(KEY_MAP, info.history, 0);
	store_delete(rm->tx, &row);
	row = item_marker(number);
	store_delete(rm->tx, &row);
	row = key_name(rm->directory, KEY_FILE, span_of(info.name));
	store_delete(rm->tx, &row);
	row = key_item(rm->directory, KEY_FILE, number);
	store_delete(rm->tx, &row);
	return spend(rm);
}

int artifact_remove_some(struct store_tx *tx, uint64_t directory, size_t *budget, struct buf *dead)
{
	struct removing rm = { .tx = tx, .directory = directory, .budget = budget, .dead = dead };
	struct key prefix = key_dir(KEY_ITEM, directory, KEY_FILE);

	return store_scan(tx, &prefix, &prefix, remove_item, &rm);
}
