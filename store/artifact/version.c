/*
 * Rows of versions: see version.h.
 */
#include "store/artifact/version.h"

#include "store/artifact/bulk.h"
#include "store/tx/key.h"
#include "store/tx/record.h"

#include <errno.h>

/* FLAG_ONE_MAP: of format 1: all extents are in the row KEY_MAP artifact n. */
enum { FLAG_ONE_MAP = 1, FLAG_TOMBSTONE = 2, FLAG_TYPED = 4 };

#define NUMBER(member) RECORD_NUMBER(struct version_info, member)
#define TEXT(member)   RECORD_TEXT(struct version_info, member)

/* The record of a version: these members, then flags, metadata and pages. */
static const struct record_field version_fields[] = {
	NUMBER(number),  NUMBER(bulk), NUMBER(size), NUMBER(stamp),
	NUMBER(created), TEXT(mime),   { 0 },
};

static int decode_with_flags(struct span record, struct version_info *v, struct buf *meta,
			     uint64_t *flags)
{
	struct record_reader r = { .left = record };
	struct span text;

	record_take(version_fields, &r, v);
	*flags = record_take_number(&r);
	v->is_tombstone = *flags & FLAG_TOMBSTONE;
	v->is_typed = *flags & FLAG_TYPED;
	text = record_take_text(&r);
	if (meta)
		buf_span_add(meta, text);
	v->pages = record_take_number(&r);
	return r.bad ? -EIO : 0;
}

static int decode(struct span record, uint64_t n, struct version_info *v, struct buf *meta)
{
	uint64_t flags;

	*v = (struct version_info){ .n = n };
	return decode_with_flags(record, v, meta, &flags);
}

int version_load(struct store_tx *tx, uint64_t artifact, uint64_t n, struct version_info *out,
		 struct buf *meta)
{
	CLEANUP(buf_release) struct buf record = { 0 };
	struct key key = key_2(KEY_VERSION, artifact, n);
	int r = store_get(tx, &key, &record);

	if (r == -ENOENT)
		return err_set(tx->err, r, "there is no version %llu", (unsigned long long)n);
	return r < 0 ? r : decode(buf_span(&record), n, out, meta);
}

/* Append the extents of a row to a list. */
static int load_page(struct store_tx *tx, struct key key, struct extents *out)
{
	CLEANUP(buf_release) struct buf record = { 0 };
	int r = store_get(tx, &key, &record);

	if (r == 0)
		r = extents_decode(buf_span(&record), out);
	return r;
}

int version_map(struct store_tx *tx, uint64_t artifact, const struct version_info *v,
		struct extents *out)
{
	uint64_t page;
	int r = 0;

	*out = (struct extents){ 0 };
	if (v->bulk)
		return extents_put(out, (struct extent){ 0, v->size, v->bulk, 0 });
	for (page = 0; r == 0 && page < v->pages; page++)
		r = load_page(tx, key_3(KEY_MAP, artifact, v->n, page), out);
	if (r < 0)
		extents_release(out);
	return r == -ENOENT || r == -EIO
		       ? err_set(tx->err, -EIO, "the store has lost extents of version %llu",
				 (unsigned long long)v->n)
		       : r;
}

static void put_page(struct store_tx *tx, struct key key, const struct extents *map, size_t from,
		     struct buf *record)
{
	struct extents part = { .list = map->list + from, .count = map->count - from };

	part.count = MIN(part.count, VERSION_PAGE);
	buf_clear(record);
	extents_encode(&part, record);
	store_put(tx, &key, buf_span(record));
}

/* Write the rows of a map; those of an older one that is longer are deleted. */
static int put_map(struct store_tx *tx, uint64_t artifact, struct version_info *v,
		   const struct extents *map)
{
	CLEANUP(buf_release) struct buf record = { 0 };
	uint64_t before = v->pages;
	uint64_t page;

	v->pages = (map->count + VERSION_PAGE - 1) / VERSION_PAGE;
	for (page = 0; page < v->pages; page++)
		put_page(tx, key_3(KEY_MAP, artifact, v->n, page), map, page * VERSION_PAGE,
			 &record);
	for (; page < before; page++) {
		struct key key = key_3(KEY_MAP, artifact, v->n, page);

		store_delete(tx, &key);
	}
	return buf_check(&record, tx->err);
}

static bool is_whole_bulk(const struct extents *map, uint64_t size)
{
	return map->count == 1 && !map->list[0].start && !map->list[0].at &&
	       map->list[0].len == size;
}

static bool has_number(const struct buf *numbers, uint64_t number)
{
	size_t count;
	const uint64_t *list = BUF_LIST(uint64_t, numbers, &count);
	size_t i;

	for (i = 0; i < count && list[i] != number; i++)
		;
	return i < count;
}

/* Add references to new bulks, and drop those to bulks that are not used any more. */
static int move_refs(struct store_tx *tx, const struct extents *old, const struct extents *map,
		     struct buf *dead)
{
	CLEANUP(buf_release) struct buf before = { 0 };
	CLEANUP(buf_release) struct buf after = { 0 };
	const uint64_t *list;
	size_t count;
	size_t i;
	int r;

	if (old)
		extents_bulks(old, &before);
	if (map)
		extents_bulks(map, &after);
	r = before.failed ? buf_check(&before, tx->err) : buf_check(&after, tx->err);
	list = BUF_LIST(uint64_t, &after, &count);
	for (i = 0; r == 0 && i < count; i++) {
		if (!has_number(&before, list[i]))
			r = bulk_add_ref(tx, list[i]);
	}
	list = BUF_LIST(uint64_t, &before, &count);
	for (i = 0; r == 0 && i < count; i++) {
		if (!has_number(&after, list[i]))
			r = bulk_drop_ref(tx, list[i], dead);
	}
	return r;
}

void version_save_record(struct store_tx *tx, uint64_t artifact, const struct version_info *v,
			 struct span meta)
{
	CLEANUP(buf_release) struct buf record = { 0 };
	struct key key = key_2(KEY_VERSION, artifact, v->n);

	record_put(version_fields, v, &record);
	record_number(&record,
		      (v->is_tombstone ? FLAG_TOMBSTONE : 0u) | (v->is_typed ? FLAG_TYPED : 0u));
	record_text(&record, meta);
	record_number(&record, v->pages);
	store_put(tx, &key, buf_span(&record));
}

static int put_version(struct store_tx *tx, uint64_t artifact, struct version_info *v,
		       struct span meta, const struct extents *map)
{
	static const struct extents none;
	bool whole = is_whole_bulk(map, v->size);
	int r = put_map(tx, artifact, v, whole ? &none : map);

	v->bulk = whole ? map->list[0].bulk : 0;
	version_save_record(tx, artifact, v, meta);
	return r;
}

int version_save(struct store_tx *tx, uint64_t artifact, struct version_info *v, struct span meta,
		 const struct extents *map)
{
	int r = move_refs(tx, NULL, map, NULL);

	v->pages = 0; /* *v may be a copy of another version */
	return r < 0 ? r : put_version(tx, artifact, v, meta, map);
}

int version_change(struct store_tx *tx, uint64_t artifact, struct version_info *v, struct span meta,
		   const struct extents *map, struct buf *dead)
{
	CLEANUP(extents_release) struct extents old = { 0 };
	struct version_info before;
	int r = version_load(tx, artifact, v->n, &before, NULL);

	if (r == 0)
		r = version_map(tx, artifact, &before, &old);
	if (r == 0)
		r = move_refs(tx, &old, map, dead);
	return r < 0 ? r : put_version(tx, artifact, v, meta, map);
}

int version_drop(struct store_tx *tx, uint64_t artifact, const struct version_info *v,
		 struct buf *dead)
{
	CLEANUP(extents_release) struct extents map = { 0 };
	static const struct extents none;
	struct version_info gone = *v;
	struct key key = key_2(KEY_VERSION, artifact, v->n);
	int r = version_map(tx, artifact, v, &map);

	if (r == 0)
		r = move_refs(tx, &map, NULL, dead);
	if (r == 0)
		r = put_map(tx, artifact, &gone, &none);
	store_delete(tx, &key);
	return r;
}

struct scanning {
	version_fn *fn;
	void *arg;
};

static int take_version(void *arg, struct span key, struct span value)
{
	struct scanning *s = arg;
	struct version_info v;
	int r = decode(value, key_last_number(key), &v, NULL);

	return r < 0 ? r : s->fn(s->arg, &v);
}

int version_scan(struct store_tx *tx, uint64_t artifact, uint64_t after, version_fn *fn, void *arg)
{
	struct scanning s = { fn, arg };
	struct key prefix = key_1(KEY_VERSION, artifact);
	struct key from = key_2(KEY_VERSION, artifact, after + 1);

	return store_scan(tx, &from, &prefix, take_version, &s);
}

struct dropping {
	struct store_tx *tx;
	struct ref scope;
	uint64_t artifact;
	struct buf *dead;
};

static int drop_one(void *arg, const struct version_info *v)
{
	struct dropping *d = arg;
	struct change *change = store_add_change(d->tx, CHANGE_VERSION_REMOVED, d->scope);

	if (!change)
		return err_nomem(d->tx->err);
	change->history = d->artifact;
	change->version_item = v->number;
	change->version = v->n;
	return version_drop(d->tx, d->artifact, v, d->dead);
}

int version_drop_all(struct store_tx *tx, struct ref scope, uint64_t artifact, struct buf *dead)
{
	struct dropping d = { tx, scope, artifact, dead };

	return version_scan(tx, artifact, 0, drop_one, &d);
}

/* Take a number below the highest one, which must be one that was never used. */
static int take_free(struct store_tx *tx, uint64_t artifact, struct extents *free, uint64_t n)
{
	CLEANUP(buf_release) struct buf record = { 0 };
	struct key key = key_2(KEY_MAP, artifact, 0);
	size_t i = extents_find(free, n);

	if (i == free->count || free->list[i].start > n)
		return err_set(tx->err, -EEXIST, "version %llu was given already",
			       (unsigned long long)n);
	if (extents_cut(free, n, n + 1) < 0)
		return err_nomem(tx->err);
	extents_encode(free, &record);
	store_put(tx, &key, buf_span(&record));
	return buf_check(&record, tx->err);
}

/* Note the numbers [from, to) as not used. */
static int pass_over(struct store_tx *tx, uint64_t artifact, struct extents *free, uint64_t from,
		     uint64_t to)
{
	CLEANUP(buf_release) struct buf record = { 0 };
	struct key key = key_2(KEY_MAP, artifact, 0);

	if (extents_put(free, (struct extent){ from, to - from, 1, from }) < 0)
		return err_nomem(tx->err);
	extents_encode(free, &record);
	store_put(tx, &key, buf_span(&record));
	return buf_check(&record, tx->err);
}

int version_take_number(struct store_tx *tx, uint64_t artifact, uint64_t *highest, uint64_t *n)
{
	CLEANUP(extents_release) struct extents free = { 0 };
	int r;

	if (!*n || *n == *highest + 1) {
		*n = ++*highest;
		return 0;
	}
	r = load_page(tx, key_2(KEY_MAP, artifact, 0), &free);
	if (r < 0 && r != -ENOENT)
		return r;
	if (*n <= *highest)
		return take_free(tx, artifact, &free, *n);
	r = pass_over(tx, artifact, &free, *highest + 1, *n);
	*highest = *n;
	return r;
}

int version_convert(struct store_tx *tx, uint64_t artifact, uint64_t n)
{
	CLEANUP(buf_release) struct buf record = { 0 };
	CLEANUP(buf_release) struct buf meta = { 0 };
	CLEANUP(extents_release) struct extents map = { 0 };
	struct version_info v = { .n = n };
	struct key key = key_2(KEY_VERSION, artifact, n);
	uint64_t flags;
	int r = store_get(tx, &key, &record);

	if (r == 0)
		r = decode_with_flags(buf_span(&record), &v, &meta, &flags);
	if (r < 0 || !(flags & FLAG_ONE_MAP))
		return r;
	key = key_2(KEY_MAP, artifact, n);
	r = load_page(tx, key, &map);
	if (r < 0)
		return err_set(tx->err, -EIO, "the store has lost extents of version %llu",
			       (unsigned long long)n);
	store_delete(tx, &key);
	return put_version(tx, artifact, &v, buf_span(&meta), &map);
}
