/*
 * Versions of artifacts: see artifact.h.
 */
#include "base/clock.h"
#include "base/percent.h"
#include "store/artifact/tx.h"
#include "store/json/time.h"

#include <errno.h>
#include <stdio.h>

static int stat_version(struct store_tx *tx, void *arg)
{
	struct artifact_request *rq = arg;
	int r = version_load(tx, rq->number, rq->n, &rq->version, rq->text);

	if (r == 0 && rq->version.is_tombstone)
		r = err_set(tx->err, -ENOENT, "version %llu only hides the name and has no bytes",
			    (unsigned long long)rq->n);
	return r;
}

int artifact_version(struct store *st, uint64_t artifact, uint64_t n, struct version_info *out,
		     struct err *err)
{
	struct artifact_request rq = { .number = artifact, .n = n };
	int r = store_view(st, stat_version, &rq, err);

	if (r == 0)
		*out = rq.version;
	return r;
}

static int check_number(struct store_tx *tx, void *arg)
{
	struct artifact_request *rq = arg;

	return version_take_number(tx, rq->number, &rq->info.highest, &rq->n);
}

int artifact_check_number(struct store *st, const struct artifact_info *a, uint64_t n,
			  struct err *err)
{
	struct artifact_request rq = { .number = a->history, .n = n, .info = *a };

	return store_view(st, check_number, &rq, err); /* which is not committed */
}

int artifact_metadata(struct store *st, uint64_t artifact, uint64_t n, struct buf *out,
		      struct err *err)
{
	struct artifact_request rq = { .number = artifact, .n = n, .text = out };
	int r = store_view(st, stat_version, &rq, err);

	return r < 0 ? r : buf_check(out, err);
}

static int load_bytes(struct store_tx *tx, void *arg)
{
	struct artifact_request *rq = arg;
	int r = stat_version(tx, rq);

	extents_release(&rq->map);
	return r < 0 ? r : version_map(tx, rq->number, &rq->version, &rq->map);
}

int artifact_blob(struct store *st, uint64_t artifact, uint64_t n, struct blob *blob,
		  struct version_info *out, struct err *err)
{
	struct artifact_request rq = { .number = artifact, .n = n };
	struct version_info seen = { 0 };
	int r;

	/* Pin the bulks, and check that the version still has them. */
	do {
		r = store_view(st, load_bytes, &rq, err);
		if (r < 0 || (seen.stamp && seen.stamp == rq.version.stamp))
			break;
		seen = rq.version;
		blob_close(blob);
		r = blob_load(blob, &rq.map, rq.version.size, err);
	} while (r == 0);
	extents_release(&rq.map);
	if (r < 0)
		blob_close(blob);
	if (r == 0 && out)
		*out = rq.version;
	return r;
}

struct listing {
	uint64_t history;
	uint64_t after;
	version_fn *fn;
	void *arg;
};

static int emit_version(void *arg, const struct version_info *v)
{
	struct listing *l = arg;

	return v->is_tombstone ? 0 : l->fn(l->arg, v);
}

static int list_versions(struct store_tx *tx, void *arg)
{
	struct listing *l = arg;

	return version_scan(tx, l->history, l->after, emit_version, l);
}

int artifact_versions(struct store *st, uint64_t artifact, uint64_t after, version_fn *fn,
		      void *arg, struct err *err)
{
	struct listing l = { .history = artifact, .after = after, .fn = fn, .arg = arg };

	return store_view(st, list_versions, &l, err);
}

struct newest {
	uint64_t except;
	struct version_info found;
};

static int take_newest(void *arg, const struct version_info *v)
{
	struct newest *newest = arg;

	if (v->n != newest->except)
		newest->found = *v;
	return 0;
}

/* Update an item for a version that is removed. *is_gone: no version is visible any more. */
static int forget_version(struct store_tx *tx, struct artifact_info *a, uint64_t n, bool *is_gone)
{
	struct newest newest = { .except = n };
	int r = version_scan(tx, a->history, 0, take_newest, &newest);

	*is_gone = !newest.found.n || newest.found.is_tombstone;
	a->changed = a->versions_stamp = clock_stamp();
	if (r < 0 || a->latest != n)
		return r;
	a->latest = *is_gone ? 0 : newest.found.n;
	a->tombstone = newest.found.is_tombstone ? newest.found.n : 0;
	a->size = newest.found.size;
	a->stamp = a->versions_stamp;
	a->attr.has &= ~(unsigned)(ATTR_MTIME | ATTR_ATIME);
	return 0;
}

static int remove_version(struct store_tx *tx, void *arg)
{
	struct artifact_request *rq = arg;
	struct scope_info scope;
	bool was_visible;
	bool is_gone = false;
	int r = scope_need(tx, rq->scope, &scope);

	buf_clear(&rq->dead);
	if (r == 0)
		r = artifact_find_tx(tx, rq);
	was_visible = rq->info.latest;
	rq->number = rq->info.history;
	if (r == 0)
		r = stat_version(tx, rq);
	if (r == 0)
		r = forget_version(tx, &rq->info, rq->n, &is_gone);
	if (r == 0)
		r = version_drop(tx, rq->info.history, &rq->version, &rq->dead);
	if (r < 0)
		return r;
	item_save(tx, rq->parent, &rq->info);
	is_gone = was_visible && !rq->info.latest;
	scope.stamp = rq->info.changed;
	if (is_gone)
		artifact_touch_list(tx, rq->scope, rq->parent, &scope, rq->info.changed);
	scope_save(tx, rq->scope, &scope);
	r = item_tell(tx, is_gone ? CHANGE_ARTIFACT_REMOVED : CHANGE_ARTIFACT, rq->scope,
		      rq->parent, &rq->info, NULL);
	return r < 0 ? r
		     : item_tell(tx, CHANGE_VERSION_REMOVED, rq->scope, rq->parent, &rq->info,
				 &rq->version);
}

int artifact_remove_version(struct store *st, struct artifact_name at, uint64_t n, struct err *err)
{
	struct artifact_request rq = {
		.scope = at.scope, .parent = at.parent, .name = at.name, .n = n, .versions = true
	};

	return artifact_update(st, remove_version, &rq, err);
}

static int describe_version(struct store_tx *tx, void *arg)
{
	struct artifact_request *rq = arg;
	struct scope_info scope;
	int r = scope_need(tx, rq->scope, &scope);

	if (r == 0)
		r = artifact_find_tx(tx, rq);
	rq->number = rq->info.history;
	if (r == 0)
		r = stat_version(tx, rq);
	if (r < 0)
		return r;
	if (rq->mime) {
		(void)snprintf(rq->version.mime, sizeof rq->version.mime, "%s", rq->mime);
		rq->version.is_typed = true;
	}
	version_save_record(tx, rq->number, &rq->version, rq->meta);
	rq->info.changed = rq->info.versions_stamp = clock_stamp();
	item_save(tx, rq->parent, &rq->info);
	scope.stamp = rq->info.changed;
	scope_save(tx, rq->scope, &scope);
	return item_tell(tx, CHANGE_VERSION, rq->scope, rq->parent, &rq->info, &rq->version);
}

int artifact_describe_version(struct store *st, struct artifact_name at, uint64_t n,
			      const char *mime, struct span meta, struct err *err)
{
	struct artifact_request rq = { .scope = at.scope,
				       .parent = at.parent,
				       .name = at.name,
				       .n = n,
				       .versions = true,
				       .mime = mime,
				       .meta = meta };

	if (meta.len > ARTIFACT_META_MAX)
		return err_set(err, -EFBIG, "the custom metadata is over %u bytes",
			       ARTIFACT_META_MAX);
	if (mime && strlen(mime) >= sizeof rq.version.mime)
		return err_set(err, -EINVAL, "the MIME type is over %zu bytes",
			       sizeof rq.version.mime - 1);
	return store_update(st, describe_version, &rq, err);
}

void artifact_describe(struct buf *out, const struct artifact_uri *at,
		       const struct version_info *version, struct span meta)
{
	CLEANUP(buf_release) struct buf uri = { 0 };

	buf_text(&uri, "artifact://apps/");
	percent_encode(&uri, span_of(at->app), "");
	buf_text(&uri, "/users/");
	percent_encode(&uri, span_of(at->user), "");
	if (at->session) {
		buf_text(&uri, "/sessions/");
		percent_encode(&uri, span_of(at->session), "");
	}
	buf_text(&uri, "/artifacts/");
	percent_encode(&uri, span_of(at->full_name), "/");
	buf_printf(&uri, "/versions/%llu", (unsigned long long)version->n);
	buf_printf(out, "{\"version\":%llu,\"canonicalUri\":", (unsigned long long)version->n);
	json_quote(out, buf_span(&uri));
	buf_text(out, ",\"customMetadata\":");
	buf_span_add(out, meta.len ? meta : SPAN("{}"));
	buf_text(out, ",\"createTime\":");
	time_print(out, version->created);
	buf_text(out, ",\"mimeType\":");
	json_quote(out, span_of(version->mime));
	buf_printf(out, ",\"size\":%llu}\n", (unsigned long long)version->size);
	out->failed |= uri.failed;
}
