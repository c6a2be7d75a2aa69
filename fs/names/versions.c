/*
 * artifacts/.versions: see versions.h.
 *
 * .versions/<name>/<n> has the bytes of version n, <n>.json its description. A new
 * file <n> can be made if n was never used. A write to <n>.json sets the MIME type
 * and the metadata.
 */
#include "fs/names/versions.h"

#include "base/json_text.h"
#include "base/name.h"
#include "fs/draft/draft.h"
#include "fs/draft/scratch.h"
#include "fs/draft/text.h"
#include "fs/names/artifacts.h"
#include "fs/tree/fs.h"
#include "fs/tree/tree.h"
#include "store/session/state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define ABOUT_ENDING ".json"

static void entry_place(const struct place *dir, const struct artifact_info *info,
			struct place *child)
{
	*child = place_child(
		dir, &dir->type->members[info->is_directory ? VERSIONS_DIRECTORY : VERSIONS_NAME]);
	child->parent = artifacts_directory(dir);
	child->item = info->is_directory ? info->number : info->history;
}

static int versions_find(const struct place *dir, const char *name, struct place *child,
			 struct buf *text, struct err *err)
{
	struct artifact_info info;
	int r = artifacts_decode(name, text, err);

	if (r == 0)
		r = artifact_find_versions(dir->fs->store, artifacts_directory(dir), text->data,
					   &info, err);
	if (r < 0)
		return r;
	entry_place(dir, &info, child);
	return place_copy_name(child, info.full_name, text, err);
}

struct listing {
	const struct place *dir;
	struct lister *l;
	uint64_t after;
};

static int list_entry(void *arg, const struct artifact_info *info)
{
	struct listing *ls = arg;
	CLEANUP(buf_release) struct buf name = { 0 };
	struct place child;

	if (name_encode(span_of(info->name), NAME_HIDE_DOT, &name, NULL) < 0 || !buf_cstr(&name))
		return 0;
	entry_place(ls->dir, info, &child);
	child.name = info->full_name;
	return lister_emit(ls->l, name.data, &child, info->number, NULL);
}

static int versions_list(const struct place *dir, uint64_t after, struct lister *l, struct err *err)
{
	struct listing ls = { dir, l, after };

	return artifact_list_versions(dir->fs->store, artifacts_directory(dir), after, list_entry,
				      &ls, err);
}

const struct dir_ops versions_ops = {
	.list = versions_list,
	.find = versions_find,
};

static const char *last_component(const char *full_name)
{
	const char *slash = strrchr(full_name, '/');

	return slash ? slash + 1 : full_name;
}

/* The artifact whose versions a directory has. */
static int artifact_of(const struct place *dir, struct artifact_info *info, struct err *err)
{
	return artifact_find_versions(dir->fs->store, dir->parent, last_component(dir->name), info,
				      err);
}

/* The place of a version: at->parent is the history, at->n the version, at->name the full name. */
static int version_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	struct scratch_info scratch;
	struct version_info v;
	int r;

	if (scratch_get(at->fs, at->item, &scratch, NULL)) {
		scratch_stat(&scratch, st);
		return 0;
	}
	r = artifact_version(at->fs->store, at->parent, at->n, &v, err);
	if (r == -ENOENT && draft_stat_unlinked(at, st))
		return 0;
	if (r < 0)
		return r;
	st->size = v.size;
	st->mtime = v.stamp;
	return 0;
}

/* <n>.json: the description of a version. */

static int about_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	struct artifact_info info;
	struct version_info v;
	int r = artifact_version(at->fs->store, at->parent, at->n, &v, err);

	if (r == 0)
		r = artifact_resolve(at->fs->store, at->ref, at->name, NULL, &info, err);
	if (r == 0)
		st->mtime = MAX(v.stamp, info.versions_stamp);
	return r;
}

static int about_show(const struct place *at, struct buf *out, struct err *err)
{
	CLEANUP(buf_release) struct buf meta = { 0 };
	struct artifact_uri uri = { .full_name = at->name };
	struct scopes scopes;
	struct version_info v;
	int r = artifact_version(at->fs->store, at->parent, at->n, &v, err);

	if (r == 0)
		r = artifact_metadata(at->fs->store, at->parent, at->n, &meta, err);
	if (r == 0)
		r = scope_stat_all(at->fs->store, at->ref, &scopes, err);
	if (r < 0)
		return r;
	uri.app = scopes.app.id;
	uri.user = scopes.user.id;
	uri.session = at->ref.session ? scopes.session.id : NULL;
	artifact_describe(out, &uri, &v, buf_span(&meta));
	return buf_check(out, err);
}

/* A description that was written to <n>.json. */
struct about {
	struct buf mime;
	struct buf meta;
	bool has_mime;
};

static void about_release(struct about *a)
{
	buf_release(&a->mime);
	buf_release(&a->meta);
}

static bool is_fixed(struct span key)
{
	static const char *const fixed[] = { "version",     "size",         "createTime",
					     "create_time", "canonicalUri", "canonical_uri" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fixed); i++) {
		if (span_is(key, fixed[i]))
			return true;
	}
	return false;
}

static int parse_member(void *arg, struct span key, struct span value)
{
	struct about *a = arg;

	if (is_fixed(key)) /* fixed members of a version are ignored */
		return 0;
	if (span_is(key, "customMetadata") || span_is(key, "custom_metadata")) {
		if (!value.len || value.data[0] != '{')
			return -EDOM;
		return json_canonical_text(value, JSON_DEPTH_FREE, &a->meta, NULL);
	}
	if (!span_is(key, "mimeType") && !span_is(key, "mime_type"))
		return -EILSEQ;
	if (!value.len || value.data[0] != '"')
		return -EDOM;
	a->has_mime = true;
	return json_unquote(value, &a->mime);
}

static int parse_about(struct span text, struct about *about, struct err *err)
{
	int r = json_each(text, parse_member, about);

	if (r == -EDOM)
		return err_set(err, -EINVAL,
			       "mimeType must be a string, and customMetadata an object");
	if (r == -EILSEQ)
		return err_set(err, -EINVAL,
			       "only mimeType and customMetadata of a version can be set");
	if (r < 0)
		return err_set(err, -EINVAL, "the data about a version must be a JSON object");
	if (about->has_mime &&
	    (!about->mime.len || !memchr(about->mime.data, '/', about->mime.len) ||
	     !buf_cstr(&about->mime) || strlen(about->mime.data) != about->mime.len))
		return err_set(err, -EINVAL, "mimeType must have the form type/subtype");
	return 0;
}

static int check_about(struct handle *h, struct span text, struct err *err)
{
	CLEANUP(about_release) struct about about = { 0 };
	int r = state_check_text(text, err);

	(void)h;
	return r < 0 ? r : parse_about(text, &about, err);
}

static int set_about(struct handle *h, struct span text, struct err *err)
{
	const struct place *at = &h->at;
	CLEANUP(about_release) struct about about = { 0 };
	struct artifact_info info;
	uint64_t parent;
	int r = parse_about(text, &about, err);

	if (r < 0)
		return r;
	r = artifact_resolve(at->fs->store, at->ref, at->name, &parent, &info, err);
	if (r < 0)
		return r;
	return artifact_describe_version(
		at->fs->store, (struct artifact_name){ at->ref, parent, info.name }, at->n,
		about.has_mime ? about.mime.data : NULL, buf_span(&about.meta), err);
}

static const struct text_rules about_rules = {
	.starts_empty = true,
	.max = ARTIFACT_META_MAX + 4096,
	.what = "the data about a version",
	.check = check_about,
	.set = set_about,
};

enum version_member { VERSION_BYTES, VERSION_ABOUT };

static const struct node_type version_members[] = {
	[VERSION_BYTES] = { .name = "<n>",
			    .id = ID_OBJECT,
			    .mode = S_IFREG | 0400,
			    .stat = version_stat,
			    .read = draft_read,
			    .file = &draft_ops },
	[VERSION_ABOUT] = { .name = "<n>.json",
			    .id = ID_OBJECT_JSON,
			    .mode = S_IFREG | 0600,
			    .stat = about_stat,
			    .show = about_show,
			    .file = &text_ops,
			    .text = &about_rules },
	{ 0 },
};

/* The directory of the versions of one artifact. */

static void version_place(const struct place *dir, const struct version_info *v,
			  enum version_member member, struct place *child)
{
	*child = place_child(dir, &version_members[member]);
	child->parent = dir->item;
	child->item = v->number;
	child->n = v->n;
	child->name = dir->name;
}

/* The number in "12" or "12.json"; 0: another name. */
static uint64_t parse_number(const char *name, bool *json)
{
	char *end;
	uint64_t n;

	*json = false;
	if (name[0] < '1' || name[0] > '9')
		return 0;
	errno = 0;
	n = strtoull(name, &end, 10);
	*json = !strcmp(end, ABOUT_ENDING);
	return errno || (*end && !*json) ? 0 : n;
}

static int version_find(const struct place *dir, const char *name, struct place *child,
			struct buf *text, struct err *err)
{
	struct scratch_info scratch;
	struct version_info v;
	bool json;
	uint64_t n = parse_number(name, &json);
	int r = 0;

	if (!n)
		return err_set(err, -ENOENT, "a version's name is its number, not %s", name);
	if (!json && scratch_find(dir->fs, dir->item, name, &scratch))
		v = (struct version_info){ .n = n, .number = scratch.number };
	else
		r = artifact_version(dir->fs->store, dir->item, n, &v, err);
	if (r < 0)
		return r;
	version_place(dir, &v, json ? VERSION_ABOUT : VERSION_BYTES, child);
	return place_copy_name(child, dir->name, text, err);
}

/* Make a version with a number that was never used. */
static int version_create(const struct place *dir, const char *name, const struct node_new *by,
			  struct place *child, struct buf *text, struct err *err)
{
	struct scratch_info info = { .dir = dir->item, .scope = dir->ref };
	struct artifact_info artifact;
	struct version_info v = { 0 };
	struct draft *draft;
	bool json;
	int r;

	(void)by;
	v.n = parse_number(name, &json);
	if (!v.n || json || v.n > INT64_MAX)
		return err_set(err, -EINVAL, "a version's name is its number, not %s", name);
	r = artifact_of(dir, &artifact, err);
	if (r == 0)
		r = artifact_check_number(dir->fs->store, &artifact, v.n, err);
	if (r < 0)
		return r;
	v.number = info.number = store_new_number(dir->fs->store, err);
	draft = draft_new(dir->fs->store, true);
	(void)snprintf(info.name, sizeof info.name, "%s", name);
	r = !info.number ? -EIO : draft ? scratch_add(dir->fs, &info, draft, err) : err_nomem(err);
	draft_unref(draft);
	if (r < 0)
		return r;
	version_place(dir, &v, VERSION_BYTES, child);
	return place_copy_name(child, dir->name, text, err);
}

void versions_file_name(uint64_t n, bool about, char out[VERSIONS_NAME_SIZE])
{
	(void)snprintf(out, VERSIONS_NAME_SIZE, "%llu%s", (unsigned long long)n,
		       about ? ABOUT_ENDING : "");
}

static int list_version(void *arg, const struct version_info *v)
{
	struct listing *ls = arg;
	struct node_stat st = { .size = v->size, .mtime = v->stamp };
	struct place child;
	char name[VERSIONS_NAME_SIZE];
	uint64_t cookie = v->n * 2;
	int r;

	version_place(ls->dir, v, VERSION_BYTES, &child);
	versions_file_name(v->n, false, name);
	r = v->n * 2 - 1 > ls->after ? lister_emit(ls->l, name, &child, cookie - 1, &st) : 0;
	if (r)
		return r;
	version_place(ls->dir, v, VERSION_ABOUT, &child);
	versions_file_name(v->n, true, name);
	return lister_emit(ls->l, name, &child, cookie, NULL);
}

/* Each version has two names with an odd and an even cookie: a listing may end between them. */
static int version_list(const struct place *dir, uint64_t after, struct lister *l, struct err *err)
{
	struct listing ls = { .dir = dir, .l = l, .after = after };

	return artifact_versions(dir->fs->store, dir->item, after / 2, list_version, &ls, err);
}

static int version_remove(const struct place *dir, const char *name, struct err *err)
{
	bool json;
	uint64_t n = parse_number(name, &json);

	if (json)
		return -EOPNOTSUPP; /* <n>.json disappears with its version */
	return artifact_remove_version(
		dir->fs->store,
		(struct artifact_name){ dir->ref, dir->parent, last_component(dir->name) }, n, err);
}

static const struct dir_ops version_ops = {
	.list = version_list,
	.find = version_find,
	.create = version_create,
	.remove = version_remove,
};

static int versions_of_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	struct artifact_info info;
	int r = artifact_of(at, &info, err);

	if (r == 0 && info.history != at->item)
		r = err_set(err, -ENOENT, "the artifact was removed");
	if (r == 0)
		st->mtime = info.versions_stamp;
	return r;
}

const struct node_type versions_members[] = {
	[VERSIONS_NAME] = { .name = ".versions/<name>",
			    .id = ID_OBJECT_VERSIONS,
			    .mode = S_IFDIR | 0700,
			    .flags = NODE_LATE,
			    .members = version_members,
			    .stat = versions_of_stat,
			    .dir = &version_ops },
	[VERSIONS_DIRECTORY] = { .name = ".versions/<directory>",
				 .id = ID_OBJECT_VERSIONS,
				 .mode = S_IFDIR | 0700,
				 .flags = NODE_LATE,
				 .members = versions_members,
				 .stat = artifacts_directory_stat,
				 .dir = &versions_ops },
	{ 0 },
};
