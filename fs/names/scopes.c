/*
 * Directories of apps, users and sessions: see scopes.h.
 */
#include "fs/names/scopes.h"

#include "base/clock.h"
#include "base/name.h"
#include "fs/tree/fs.h"
#include "fs/tree/tree.h"
#include "runner/runner.h"
#include "store/remove.h"
#include "store/session/scope.h"

#include <errno.h>

int scopes_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	struct scope_info info;
	int r = scope_stat(at->fs->store, at->ref, &info, err);

	if (r == 0)
		st->mtime = MAX(info.members_stamp, at->fs->mounted);
	return r;
}

/* A session is as old as its latest event, so that `ls -t` lists recent conversations first. */
static uint64_t stamp_of(struct ref scope, const struct scope_info *info)
{
	return scope.session ? (uint64_t)info->updated * 1000 : info->stamp;
}

int scope_dir_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	struct scope_info info;
	int r = scope_stat(at->fs->store, at->ref, &info, err);

	if (r == 0)
		st->mtime = stamp_of(at->ref, &info);
	return r;
}

static int list_member(void *arg, const struct scope_info *info)
{
	struct lister *l = arg;
	CLEANUP(buf_release) struct buf name = { 0 };
	struct place child = place_child(l->dir, l->dir->type->members);
	struct node_stat st = { 0 };

	child.ref = ref_child(l->dir->ref, info->number);
	if (name_encode(span_of(info->id), NAME_PLAIN, &name, NULL) < 0 || !buf_cstr(&name))
		return 0; /* an id without a file name; scope_create() refuses such ids */
	st.mtime = stamp_of(child.ref, info);
	return lister_emit(l, name.data, &child, info->number, &st);
}

static int scopes_list(const struct place *dir, uint64_t after, struct lister *l, struct err *err)
{
	return scope_list(dir->fs->store, dir->ref, after, list_member, l, err);
}

int scopes_id(const char *name, struct buf *id, struct err *err)
{
	int r = name_decode(span_of(name), NAME_PLAIN, id, err);

	if (r == 0 && memchr(id->data, 0, id->len))
		r = err_set(err, -EINVAL, "an id cannot contain a NUL");
	return r < 0 ? r : buf_cstr(id) ? 0 : err_nomem(err);
}

static int scopes_find(const struct place *dir, const char *name, struct place *child,
		       struct buf *text, struct err *err)
{
	int r = scopes_id(name, text, err);

	if (r < 0)
		return r;
	child->type = dir->type->members;
	r = scope_find(dir->fs->store, dir->ref, text->data, &child->ref, NULL, err);
	if (r < 0)
		child->type = NULL;
	return r;
}

static int scopes_make(const struct place *dir, const char *name, const struct node_new *by,
		       struct err *err)
{
	CLEANUP(buf_release) struct buf id = { 0 };
	int r = scopes_id(name, &id, err);

	(void)by; /* scopes do not store a mode or an owner */
	return r < 0 ? r : scope_create(dir->fs->store, dir->ref, id.data, NULL, NULL, err);
}

static int scopes_remove(const struct place *dir, const char *name, struct err *err)
{
	CLEANUP(buf_release) struct buf id = { 0 };
	struct ref ref;
	int r = scopes_id(name, &id, err);

	if (r == 0)
		r = scope_find(dir->fs->store, dir->ref, id.data, &ref, NULL, err);
	if (r < 0)
		return r;
	if (ref.session)
		runner_forget(dir->fs->runner, ref);
	return scope_remove(dir->fs->store, ref, err);
}

const struct dir_ops scopes_ops = {
	.list = scopes_list,
	.find = scopes_find,
	.make = scopes_make,
	.remove_dir = scopes_remove,
};

int scope_errors_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	uint64_t stamp;

	(void)err;
	errors_stat(&at->fs->errors, ref_number(at->ref), &st->size, &stamp);
	st->mtime = MAX(stamp, at->fs->mounted);
	return 0;
}

int scope_errors_show(const struct place *at, struct buf *out, struct err *err)
{
	errors_show(&at->fs->errors, ref_number(at->ref), out);
	return buf_check(out, err);
}
