/*
 * artifacts/ of a context: see context.h.
 *
 * The directory shows the artifacts of the session and the user, and over them the
 * files that the program writes. These are scratch files of the context, which
 * nobody else sees. An artifact that is opened for writing becomes a scratch file
 * that shares the artifact's bytes. New directories are in memory too; the names of
 * saved files create them in the store.
 */
#include "fs/names/context.h"

#include "base/name.h"
#include "fs/draft/draft.h"
#include "fs/draft/scratch.h"
#include "fs/names/artifacts.h"
#include "fs/tree/handle.h"
#include "fs/tree/tree.h"
#include "store/artifact/saves.h"
#include "store/json/state_key.h"

#include <errno.h>
#include <stdio.h>

enum context_artifact { CONTEXT_FILE, CONTEXT_DIRECTORY }; /* index in the table of members */

#define COOKIE_STEP (1ull << 53)
#define NAME_BYTES  1024 /* size of an ADK file name with its NUL */

static bool is_top(const struct place *dir)
{
	return dir->item == dir->parent;
}

/*
 * The number of an artifact or a directory in its context. State keys get their numbers from the
 * same function; the NUL at the start makes the two kinds of keys different.
 */
static uint64_t number_of(struct context *c, const char *full_name)
{
	CLEANUP(buf_release) struct buf key = { 0 };

	buf_char(&key, 0);
	buf_text(&key, full_name);
	return key.failed ? 0 : context_item(c, buf_span(&key));
}

/* Find a name of the session in the store. *parent: the number of its directory; may be NULL. */
static int find_stored(const struct place *at, const char *full_name, uint64_t *parent,
		       struct artifact_info *info, struct err *err)
{
	const char *rest;
	struct ref scope = save_scope(at->ref, full_name, &rest);
	int r = artifact_resolve(at->fs->store, scope, rest, parent, info, err);

	if (r == 0 && !info->is_directory && !info->latest)
		r = -ENOENT;
	return r == -ENOENT ? err_set(err, r, "there is no artifact '%.200s'", full_name) : r;
}

static int full_name(const struct place *dir, const char *id, char *out, struct err *err)
{
	int n = is_top(dir) ? snprintf(out, NAME_BYTES, "%s", id)
			    : snprintf(out, NAME_BYTES, "%s/%s", dir->name, id);

	if (n < 0 || n >= NAME_BYTES)
		return err_set(err, -ENAMETOOLONG, "the artifact's name is longer than %d bytes",
			       NAME_BYTES - 1);
	return 0;
}

/* The ADK file name of a name in a directory. -ENOENT: the name starts with a dot. */
static int decode_full(const struct place *dir, const char *name, char *full, struct err *err)
{
	CLEANUP(buf_release) struct buf id = { 0 };
	int r = artifacts_decode(name, &id, err);

	return r < 0 ? r : full_name(dir, id.data, full, err);
}

/* Stored artifacts that the program has not written to. */

static int stored_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	CLEANUP(context_leave_p) struct context *c = NULL;
	struct artifact_info info;
	int r = context_of(at, &c, err);

	if (r == 0)
		r = find_stored(at, at->name, NULL, &info, err);
	if (r == 0)
		artifacts_show(&info, st);
	return r;
}

static int stored_load(const struct place *at, struct blob *blob, struct err *err)
{
	struct artifact_info info;
	int tries;
	int r = -ENOENT;

	/* The latest version may be deleted between the two calls: try again. */
	for (tries = 0; tries < 3 && r == -ENOENT; tries++) {
		r = find_stored(at, at->name, NULL, &info, err);
		if (r < 0)
			return r;
		r = artifact_blob(at->fs->store, info.history, info.latest, blob, NULL, err);
	}
	return r;
}

/*
 * Turn a stored artifact into a scratch file of the context with the same inode. The caller is
 * between context_of() and context_leave().
 */
static int own_stored(const struct inode *inode, struct err *err)
{
	const struct spot *spot = inode_spot(inode);
	struct place at = spot->at;
	struct scratch_info info = { .number = at.item,
				     .dir = spot->parent >> 8,
				     .scope = context_scope(&at) };
	struct draft *draft = draft_new(at.fs->store, false);
	struct artifact_info stored;
	int r = draft ? find_stored(&at, at.name, NULL, &stored, err) : err_nomem(err);

	if (r == 0)
		r = draft_load(draft, stored.history, stored.latest, err);
	if (r == 0) {
		info.attr = stored.attr;
		(void)snprintf(info.name, sizeof info.name, "%s", spot->file_name);
		(void)snprintf(info.full_name, sizeof info.full_name, "%s", at.name);
		r = scratch_add(at.fs, &info, draft, err);
	}
	draft_unref(draft);
	if (r == -EEXIST) /* another open has done it in the meantime */
		r = 0;
	if (r < 0)
		return r;
	at.inode = NULL;
	at.type = &scratch_node;
	at.parent = info.dir;
	at.name = info.name;
	return inode_move(&at.fs->inodes, &at, spot->parent, info.name);
}

static int stored_open(struct handle *h, struct err *err)
{
	CLEANUP(context_leave_p) struct context *c = NULL;
	int r = context_of(&h->at, &c, err);

	if (r == 0 && handle_writes(h))
		r = own_stored(h->inode, err);
	return r < 0 ? r : draft_open(h, err);
}

/* Directories: stored, or made by the program, or both. */

/* The number of a directory in the store; 0: the directory is not stored. */
static uint64_t stored_directory(const struct place *dir)
{
	struct artifact_info info;

	if (is_top(dir))
		return dir->ref.session;
	if (find_stored(dir, dir->name, NULL, &info, NULL) < 0 || !info.is_directory)
		return 0;
	return info.number;
}

static int top_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	struct scopes scopes;
	int r = scope_stat_all(at->fs->store, at->ref, &scopes, err);

	if (r < 0)
		return r;
	st->mtime = MAX(st->mtime, scopes.session.artifacts_stamp);
	st->mtime = MAX(st->mtime, scopes.user.artifacts_stamp);
	return 0;
}

/* The attributes of a directory in artifacts/ that is stored, or made here, or both. */
static int below_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	struct scratch_info made;
	struct artifact_info info;
	uint64_t parent;
	bool is_made = scratch_get(at->fs, at->item, &made, NULL);
	int r = find_stored(at, at->name, &parent, &info, err);

	if (r == 0)
		r = artifact_stat(at->fs->store, parent, info.number, &info, err);
	if (r < 0 && !is_made)
		return r;
	if (is_made)
		scratch_stat(&made, st);
	if (r == 0 && is_made)
		st->mtime = MAX(st->mtime, info.stamp);
	else if (r == 0)
		artifacts_show(&info, st);
	return 0;
}

int context_artifacts_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	CLEANUP(context_leave_p) struct context *c = NULL;
	uint64_t stamp = scratch_dir_stamp(at->fs, at->item);
	int r = context_of(at, &c, err);

	if (r == 0)
		r = is_top(at) ? top_stat(at, st, err) : below_stat(at, st, err);
	if (r < 0)
		return r;
	st->mtime = MAX(st->mtime, c->stamp);
	if (stamp) { /* the list changed after the directory's time was set */
		st->mtime = MAX(st->mtime, stamp);
		st->attr.has &= ~(unsigned)ATTR_MTIME;
	}
	return 0;
}

static int set_made_attr(const struct place *at, const struct artifact_attr *attr, struct err *err)
{
	(void)err;
	if (scratch_set_attr(at->fs, at->item, attr) && (attr->has & ATTR_MTIME))
		scratch_dir_settle(at->fs, at->item);
	return 0;
}

static void stored_place(const struct place *dir, bool is_directory, uint64_t number,
			 struct place *child)
{
	*child = place_child(dir,
			     &dir->type->members[is_directory ? CONTEXT_DIRECTORY : CONTEXT_FILE]);
	child->item = number;
}

/* The place of a scratch file or directory; child->name is borrowed from info. */
static void made_place(const struct place *dir, const struct scratch_info *info,
		       struct place *child)
{
	scratch_place(dir, info, child);
	if (!info->is_directory)
		return;
	child->type = &dir->type->members[CONTEXT_DIRECTORY];
	child->parent = dir->parent;
	child->name = info->full_name;
}

static int context_artifacts_find(const struct place *dir, const char *name, struct place *child,
				  struct buf *text, struct err *err)
{
	CLEANUP(context_leave_p) struct context *c = NULL;
	struct scratch_info made;
	struct artifact_info info;
	char full[NAME_BYTES];
	uint64_t number;
	int r;

	if (context_of(dir, &c, err) < 0)
		return -ENOENT;
	if (scratch_find(dir->fs, dir->item, name, &made)) {
		made_place(dir, &made, child);
		return place_copy_name(child, child->name, text, err);
	}
	r = decode_full(dir, name, full, err);
	if (r == 0)
		r = find_stored(dir, full, NULL, &info, err);
	if (r < 0)
		return r;
	number = number_of(c, full);
	if (!number)
		return err_nomem(err);
	stored_place(dir, info.is_directory, number, child);
	return place_copy_name(child, full, text, err);
}

struct listing {
	const struct place *dir;
	struct lister *l;
	struct context *context;
	const char *prefix; /* prefix of the names: "" or "user:" */
	uint64_t cookies;   /* added to the cookies of these names */
};

static int list_stored_name(void *arg, const struct artifact_info *info)
{
	struct listing *ls = arg;
	CLEANUP(buf_release) struct buf id = { 0 };
	CLEANUP(buf_release) struct buf name = { 0 };
	struct node_stat st = { 0 };
	char full[NAME_BYTES];
	struct place child;
	uint64_t number;

	buf_printf(&id, "%s%s", ls->prefix, info->name);
	if (name_encode(buf_span(&id), NAME_HIDE_DOT, &name, NULL) < 0 || !buf_cstr(&name) ||
	    !buf_cstr(&id) || full_name(ls->dir, id.data, full, NULL) < 0)
		return 0;
	if (scratch_find(ls->dir->fs, ls->dir->item, name.data, NULL))
		return 0;
	number = number_of(ls->context, full);
	if (!number)
		return -ENOMEM;
	stored_place(ls->dir, info->is_directory, number, &child);
	child.name = full;
	artifacts_show(info, &st);
	return lister_emit(ls->l, name.data, &child, ls->cookies + info->number,
			   info->is_directory ? NULL : &st);
}

static int list_made(void *arg, const struct scratch_info *info)
{
	struct listing *ls = arg;
	struct place child;

	made_place(ls->dir, info, &child);
	return lister_emit(ls->l, info->name, &child, 2 * COOKIE_STEP + info->number, NULL);
}

/* List the session's artifacts, the user's artifacts, and the scratch files of the context. */
static int context_artifacts_list(const struct place *dir, uint64_t after, struct lister *l,
				  struct err *err)
{
	CLEANUP(context_leave_p) struct context *c = NULL;
	struct listing ls = { .dir = dir, .l = l, .prefix = "" };
	struct store *st = dir->fs->store;
	uint64_t part = after / COOKIE_STEP;
	uint64_t number = after % COOKIE_STEP;
	uint64_t stored = stored_directory(dir);
	int r = context_of(dir, &c, err);

	ls.context = c;
	if (r == 0 && part == 0 && stored)
		r = artifact_list(st, stored, number, list_stored_name, &ls, err);
	if (r == 0 && part <= 1 && is_top(dir)) {
		ls.prefix = statekey_prefix(SCOPE_USER);
		ls.cookies = COOKIE_STEP;
		r = artifact_list(st, dir->ref.user, part == 1 ? number : 0, list_stored_name, &ls,
				  err);
	}
	if (r == 0)
		r = scratch_list(dir->fs, dir->item, part == 2 ? number : 0, list_made, &ls);
	return r;
}

/* Making, removing and renaming. */

static int create_made(const struct place *dir, struct scratch_info *info,
		       const struct node_new *by, struct err *err)
{
	CLEANUP(context_leave_p) struct context *c = NULL;
	int r = context_of(dir, &c, err);

	return r < 0 ? r : scratch_create(dir->fs, info, by, err);
}

static int context_artifacts_create(const struct place *dir, const char *name,
				    const struct node_new *by, struct place *child,
				    struct buf *text, struct err *err)
{
	struct scratch_info info = { .dir = dir->item, .scope = context_scope(dir) };
	int r;

	if (context_artifacts_find(dir, name, child, text, NULL) == 0)
		return 0; /* another open has made the file in the meantime */
	buf_clear(text);
	(void)snprintf(info.name, sizeof info.name, "%s", name);
	info.is_new = name[0] != '.';
	r = info.is_new ? decode_full(dir, name, info.full_name, err) : 0;
	if (r == 0)
		r = create_made(dir, &info, by, err);
	if (r < 0)
		return r;
	made_place(dir, &info, child);
	return place_copy_name(child, info.name, text, err);
}

static int context_artifacts_make(const struct place *dir, const char *name,
				  const struct node_new *by, struct err *err)
{
	struct scratch_info info = { .dir = dir->item,
				     .scope = context_scope(dir),
				     .is_directory = true };
	CLEANUP(buf_release) struct buf text = { 0 };
	struct place child = *dir;
	int r;

	if (name[0] == '.')
		return err_set(err, -EINVAL,
			       "in the name of a directory here, write a leading dot as %%2E");
	if (context_artifacts_find(dir, name, &child, &text, NULL) == 0)
		return err_set(err, -EEXIST, "there is '%s' already", name);
	(void)snprintf(info.name, sizeof info.name, "%s", name);
	r = decode_full(dir, name, info.full_name, err);
	return r < 0 ? r : create_made(dir, &info, by, err);
}

static int refuse_stored(const char *name, struct err *err)
{
	return err_set(
		err, -EPERM,
		"%s is a saved artifact: a program can write it, but not remove or rename it",
		name);
}

/*
 * Refuse to remove a stored artifact. But if names of the session's directory are hidden, somebody
 * is emptying it with rm -r: then the name is hidden too, as the names of rows are.
 */
static int keep_stored(const struct place *dir, const char *name, struct err *err)
{
	return tree_hides_names(node_ino(dir->ref.session, ID_OBJECT)) ? -EOPNOTSUPP
								       : refuse_stored(name, err);
}

/* Show the stored artifact of a name again, after a scratch file of this name has gone. */
static void reveal_stored(const struct place *dir, const char *name)
{
	CLEANUP(context_leave_p) struct context *c = NULL;
	struct inodes *inodes = &dir->fs->inodes;
	char full[NAME_BYTES];
	struct place at;

	if (context_of(dir, &c, NULL) < 0 || decode_full(dir, name, full, NULL) < 0)
		return;
	stored_place(dir, false, number_of(c, full), &at);
	at.name = full;
	if (inode_move(inodes, &at, inode_number(dir), name) == 0)
		inode_restored(inodes, inode_number(&at));
}

static int context_artifacts_remove(const struct place *dir, const char *name, struct err *err)
{
	struct scratch_info info;

	if (!scratch_find(dir->fs, dir->item, name, &info))
		return keep_stored(dir, name, err);
	scratch_unlink(dir->fs, info.number);
	if (info.full_name[0])
		reveal_stored(dir, name);
	return 0;
}

static int context_artifacts_remove_dir(const struct place *dir, const char *name, struct err *err)
{
	struct scratch_info info;

	if (!scratch_find(dir->fs, dir->item, name, &info))
		return keep_stored(dir, name, err);
	if (scratch_any(dir->fs, info.number))
		return err_set(err, -ENOTEMPTY, "'%s' is not empty", name);
	scratch_unlink(dir->fs, info.number);
	return 0;
}

/* Find a file that may be renamed: one that the program has made. */
static int find_movable(const struct place *dir, const char *name, struct scratch_info *info,
			struct err *err)
{
	if (!scratch_find(dir->fs, dir->item, name, info))
		return refuse_stored(name, err);
	if (info->is_directory)
		return err_set(err, -EXDEV, "a directory can only be copied");
	return info->full_name[0] && !info->is_new ? refuse_stored(name, err) : 0;
}

static int check_target(const struct place *dir, const char *name, bool must_be_new,
			struct err *err)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	struct place found = *dir;

	if (context_artifacts_find(dir, name, &found, &text, NULL) < 0)
		return 0;
	if (must_be_new)
		return err_set(err, -EEXIST, "there is '%s' already", name);
	if (S_ISDIR(found.type->mode))
		return err_set(err, -EISDIR, "'%s' is a directory", name);
	return 0;
}

static int context_artifacts_rename(const struct node_rename *rn, struct err *err)
{
	CLEANUP(context_leave_p) struct context *c = NULL;
	struct fs *fs = rn->dir->fs;
	struct place at = place_child(rn->new_dir, &scratch_node);
	struct scratch_info info;
	char full[NAME_BYTES] = "";
	int r = context_of(rn->dir, &c, err);

	if (r == 0 && rn->dir->parent != rn->new_dir->parent)
		r = err_set(err, -EXDEV, "a file of another program can only be copied");
	if (r == 0)
		r = find_movable(rn->dir, rn->name, &info, err);
	if (r == 0)
		r = check_target(rn->new_dir, rn->new_name, rn->must_be_new, err);
	if (r == 0 && rn->new_name[0] != '.')
		r = decode_full(rn->new_dir, rn->new_name, full, err);
	if (r < 0)
		return r;
	scratch_set_full_name(fs, info.number, full);
	scratch_move(fs, info.number, rn->new_dir->item, rn->new_name);
	if (info.full_name[0])
		reveal_stored(rn->dir, rn->name);
	at.parent = rn->new_dir->item;
	at.item = info.number;
	at.name = rn->new_name;
	return inode_move(&fs->inodes, &at, inode_number(rn->new_dir), rn->new_name);
}

const struct dir_ops context_artifacts_ops = {
	.list = context_artifacts_list,
	.find = context_artifacts_find,
	.create = context_artifacts_create,
	.make = context_artifacts_make,
	.remove = context_artifacts_remove,
	.remove_dir = context_artifacts_remove_dir,
	.rename = context_artifacts_rename,
};

/* Keep in the order of enum context_artifact. */
const struct node_type context_artifacts_members[] = {
	{ .name = "<name>",
	  .id = ID_OBJECT,
	  .mode = S_IFREG | 0600,
	  .flags = NODE_FRESH,
	  .stat = stored_stat,
	  .read = draft_read,
	  .load = stored_load,
	  .file = &draft_ops,
	  .open = stored_open },
	{ .name = "<directory>",
	  .id = ID_OBJECT,
	  .mode = S_IFDIR | 0700,
	  .flags = NODE_FRESH,
	  .members = context_artifacts_members,
	  .stat = context_artifacts_stat,
	  .set_attr = set_made_attr,
	  .dir = &context_artifacts_ops },
	{ 0 },
};
