/*
 * artifacts/: see artifacts.h.
 *
 * A name is the latest version of an artifact; what is written becomes one when
 * the file is closed (draft.c). Names that start with a dot are scratch files,
 * and a rename publishes them.
 */
#include "fs/artifacts.h"

#include "base/name.h"
#include "fs/draft.h"
#include "fs/mount.h"
#include "fs/tree.h"
#include "fs/versions.h"
#include "store/mime.h"

#include <errno.h>
#include <stdio.h>

#define USER_PREFIX "user:"
#define COOKIE_STEP (1ull << 53)

static const struct node_type artifact_file;
static const struct node_type artifact_directory;
static const struct node_type artifact_link;

uint64_t artifacts_directory(const struct place *dir)
{
	return dir->item ? dir->item : ref_number(dir->ref);
}

static bool is_top_of_session(const struct place *dir)
{
	return dir->ref.session && !dir->item;
}

static struct ref user_of(struct ref ref)
{
	ref.session = 0;
	return ref;
}

static bool same_scope(struct ref a, struct ref b)
{
	return ref_number(a) == ref_number(b);
}

int artifacts_top_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	struct scope_info info;
	struct scope_info user = { 0 };
	int r = scope_stat(at->fs->store, at->ref, &info, err);

	if (r == 0 && at->ref.session)
		r = scope_stat(at->fs->store, user_of(at->ref), &user, err);
	if (r < 0)
		return r;
	st->size = 0;
	st->mtime = MAX(MAX(info.artifacts_stamp, user.artifacts_stamp), at->fs->mounted);
	st->mtime = MAX(st->mtime, scratch_dir_stamp(at->fs, ref_number(at->ref)));
	return 0;
}

static int own_info(const struct place *at, struct artifact_info *info, struct err *err)
{
	return artifact_stat(at->fs->store, at->parent, at->item, info, err);
}

static void show_info(const struct artifact_info *info, struct node_stat *st)
{
	st->size = info->size;
	st->mtime = info->stamp;
	st->ctime = info->changed;
	st->attr = info->attr;
}

int artifacts_directory_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	uint64_t stamp = scratch_dir_stamp(at->fs, at->item);
	struct artifact_info info;
	int r = own_info(at, &info, err);

	if (r < 0)
		return r;
	show_info(&info, st);
	if (stamp) { /* its list changed since */
		st->mtime = MAX(st->mtime, stamp);
		st->ctime = MAX(st->ctime, stamp);
		st->attr.has &= ~(unsigned)ATTR_MTIME;
	}
	return 0;
}

static int file_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	struct scratch_info scratch;
	struct artifact_info info;
	int r;

	if (scratch_get(at->fs, at->item, &scratch, NULL)) {
		scratch_stat(&scratch, st);
		st->size = draft_largest(at); /* nothing yet, but for who has it mapped */
		return 0;
	}
	r = own_info(at, &info, err);
	if (r == -ENOENT && draft_stat_unlinked(at, st))
		return 0;
	if (r < 0)
		return r;
	show_info(&info, st);
	/* Who may have mapped a longer draft must not see it cut off by others' questions. */
	st->size = MAX(st->size, draft_largest(at));
	return 0;
}

static int set_attr(const struct place *at, const struct artifact_attr *attr, struct err *err)
{
	/* A version that a close is still to save must not come later, with times of its own. */
	int r = at->inode ? draft_settle(at->inode, err) : 0;

	if (r < 0)
		return r;
	if (scratch_set_attr(at->fs, at->item, attr))
		return 0;
	draft_keep_attr(at, attr);
	return artifact_set_attr(at->fs->store, at->ref, at->parent, at->item, attr, err);
}

static int set_directory_attr(const struct place *at, const struct artifact_attr *attr,
			      struct err *err)
{
	int r = artifact_set_attr(at->fs->store, at->ref, at->parent, at->item, attr, err);

	if (r == 0 && (attr->has & ATTR_MTIME))
		scratch_dir_settle(at->fs, at->item);
	return r;
}

static int link_target(const struct place *at, struct buf *out, struct err *err)
{
	CLEANUP(buf_release) struct buf name = { 0 };
	int r = name_encode(span_of(at->name), NAME_HIDE_DOT, &name, err);

	buf_text(out, "../../../artifacts/");
	buf_span_add(out, buf_span(&name));
	return r < 0 ? r : buf_check(out, err);
}

static const struct node_type artifact_file = {
	.name = "<name>",
	.id = ID_OBJECT,
	.mode = S_IFREG | 0600,
	.stat = file_stat,
	.read = draft_read,
	.file = &draft_ops,
	.set_attr = set_attr,
};

/* It is there as long as the file is. */
static int link_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	struct artifact_info info;

	(void)st;
	return artifact_stat(at->fs->store, at->ref.user, at->item, &info, err);
}

static const struct node_type artifact_link = {
	.name = "user:<name>",
	.id = ID_OBJECT_LINK,
	.mode = S_IFLNK | 0777,
	.stat = link_stat,
	.link = link_target,
};

void artifacts_link_moved(struct fs *fs, struct ref user, uint64_t item, const char *name)
{
	struct place at = {
		.fs = fs, .type = &artifact_link, .ref = user, .item = item, .name = name
	};

	/* Without memory for it the old target stays until the kernel forgets the link. */
	(void)!inode_move(&fs->inodes, &at, 0, NULL);
}

static const struct node_type artifact_directory = {
	.name = "<directory>",
	.id = ID_OBJECT,
	.mode = S_IFDIR | 0700,
	.stat = artifacts_directory_stat,
	.set_attr = set_directory_attr,
	.list = artifacts_list,
	.find = artifacts_find,
	.create = artifacts_create,
	.make = artifacts_make,
	.remove = artifacts_remove,
	.remove_dir = artifacts_remove_dir,
	.rename = artifacts_rename,
};

static void entry_place(const struct place *dir, const struct artifact_info *info,
			struct place *child)
{
	*child = *dir;
	child->inode = NULL;
	child->type = info->is_directory ? &artifact_directory : &artifact_file;
	child->parent = artifacts_directory(dir);
	child->item = info->number;
}

/* A new artifact that is not saved yet: an artifact's file to everybody. */
static void new_place(const struct place *dir, const struct scratch_info *info, struct place *child)
{
	scratch_place(dir, info, child);
	if (!info->is_new)
		return;
	child->type = &artifact_file;
	child->name = info->full_name;
}

int artifacts_decode(const char *name, struct buf *id, struct err *err)
{
	int r;

	if (name[0] == '.')
		return err_set(err, -ENOENT, "there is no %s here", name);
	r = name_decode(span_of(name), NAME_HIDE_DOT, id, err);
	if (r == 0 && (memchr(id->data, 0, id->len) || memchr(id->data, '/', id->len)))
		r = err_set(err, -EINVAL,
			    "a component of an artifact's name holds no NUL and no slash");
	return r < 0 ? r : buf_cstr(id) ? 0 : err_nomem(err);
}

/* Whether the name is a user's file seen from a session; *rest is its own name. */
static bool is_user_name(const struct place *dir, const char *id, const char **rest)
{
	size_t n = strlen(USER_PREFIX);

	if (!is_top_of_session(dir) || strncmp(id, USER_PREFIX, n) != 0 || !id[n])
		return false;
	*rest = id + n;
	return true;
}

/* Copy what child->name points at, which is about to go. */
static int own_name(struct place *child, struct buf *text, struct err *err)
{
	CLEANUP(buf_release) struct buf name = { 0 };

	buf_text(&name, child->name);
	buf_clear(text);
	buf_span_add(text, buf_span(&name));
	child->name = buf_cstr(text);
	return child->name && !name.failed ? 0 : err_nomem(err);
}

static int find_link(const struct place *dir, const char *rest, struct place *child,
		     struct buf *text, struct err *err)
{
	struct artifact_info info;
	int r = artifact_find(dir->fs->store, dir->ref.user, rest, &info, err);

	if (r < 0)
		return r;
	*child = *dir;
	child->inode = NULL;
	child->type = &artifact_link;
	child->item = info.number;
	child->name = info.name;
	return own_name(child, text, err);
}

int artifacts_find(const struct place *dir, const char *name, struct place *child, struct buf *text,
		   struct err *err)
{
	CLEANUP(buf_release) struct buf id = { 0 };
	struct scratch_info scratch;
	struct artifact_info info;
	const char *rest;
	int r;

	if (scratch_find(dir->fs, artifacts_directory(dir), name, &scratch)) {
		new_place(dir, &scratch, child);
		return own_name(child, text, err);
	}
	r = artifacts_decode(name, &id, err);
	if (r < 0)
		return r;
	if (is_user_name(dir, id.data, &rest))
		return find_link(dir, rest, child, text, err);
	r = artifact_find(dir->fs->store, artifacts_directory(dir), id.data, &info, err);
	if (r < 0)
		return r;
	entry_place(dir, &info, child);
	child->name = info.full_name;
	return own_name(child, text, err);
}

struct listing {
	const struct place *dir;
	struct lister *l;
	struct buf unsaved; /* numbers of files that were in no store before it was looked at */
	size_t next;        /* of these */
};

static int emit_stored(const struct listing *ls, const struct artifact_info *info)
{
	CLEANUP(buf_release) struct buf name = { 0 };
	struct node_stat st = { 0 };
	struct place child;

	if (name_encode(span_of(info->name), NAME_HIDE_DOT, &name, NULL) < 0 || !buf_cstr(&name))
		return 0;
	entry_place(ls->dir, info, &child);
	child.name = info->full_name;
	show_info(info, &st);
	return lister_emit(ls->l, name.data, &child, TREE_MEMBER_COOKIE + info->number,
			   S_ISREG(child.type->mode) ? &st : NULL);
}

/* It may be stored by now. */
static int emit_unsaved(const struct listing *ls, uint64_t number)
{
	uint64_t parent = artifacts_directory(ls->dir);
	struct scratch_info scratch;
	struct artifact_info stored;
	struct place child;

	if (!scratch_get(ls->dir->fs, number, &scratch, NULL))
		return artifact_stat(ls->dir->fs->store, parent, number, &stored, NULL) < 0
			       ? 0
			       : emit_stored(ls, &stored);
	if (scratch.dir != parent)
		return 0; /* it was moved */
	new_place(ls->dir, &scratch, &child);
	return lister_emit(ls->l, scratch.name, &child, TREE_MEMBER_COOKIE + number, NULL);
}

static uint64_t next_unsaved(const struct listing *ls)
{
	uint64_t number = UINT64_MAX;

	if (ls->next < ls->unsaved.len)
		memcpy(&number, ls->unsaved.data + ls->next, sizeof number);
	return number;
}

static int list_unsaved(struct listing *ls, uint64_t below)
{
	int r = 0;

	while (r == 0 && next_unsaved(ls) < below) {
		r = emit_unsaved(ls, next_unsaved(ls));
		ls->next += sizeof(uint64_t);
	}
	return r;
}

static int list_stored(void *arg, const struct artifact_info *info)
{
	struct listing *ls = arg;
	int r = list_unsaved(ls, info->number);

	if (r == 0 && next_unsaved(ls) == info->number)
		ls->next += sizeof(uint64_t);
	return r ? r : emit_stored(ls, info);
}

static int note_unsaved(void *arg, const struct scratch_info *info)
{
	struct listing *ls = arg;

	buf_add(&ls->unsaved, &info->number, sizeof info->number);
	return 0;
}

/*
 * What is stored and what is not stored yet, in order of number, which a file keeps when it is
 * saved: so it is listed once, whenever that is.
 */
static int list_files(struct listing *ls, uint64_t after, struct err *err)
{
	struct fs *fs = ls->dir->fs;
	uint64_t number = artifacts_directory(ls->dir);
	int r;

	(void)scratch_list(fs, number, after, note_unsaved, ls);
	r = buf_check(&ls->unsaved, err);
	if (r == 0)
		r = artifact_list(fs->store, number, after, list_stored, ls, err);
	return r ? r : list_unsaved(ls, UINT64_MAX);
}

static int list_link(void *arg, const struct artifact_info *info)
{
	struct listing *ls = arg;
	CLEANUP(buf_release) struct buf id = { 0 };
	CLEANUP(buf_release) struct buf name = { 0 };
	struct place child = *ls->dir;

	buf_printf(&id, USER_PREFIX "%s", info->name);
	if (name_encode(buf_span(&id), NAME_HIDE_DOT, &name, NULL) < 0 || !buf_cstr(&name) ||
	    tree_is_hidden(ls->dir, name.data))
		return 0;
	child.inode = NULL;
	child.type = &artifact_link;
	child.item = info->number;
	child.name = info->name;
	return lister_emit(ls->l, name.data, &child,
			   TREE_MEMBER_COOKIE + COOKIE_STEP + info->number, NULL);
}

/* The files, then links to the user's. */
int artifacts_list(const struct place *dir, uint64_t after, struct lister *l, struct err *err)
{
	struct listing ls = { .dir = dir, .l = l };
	bool links = after / COOKIE_STEP;
	uint64_t number = after % COOKIE_STEP;
	int r = links ? 0 : list_files(&ls, number, err);

	if (r == 0 && is_top_of_session(dir))
		r = artifact_list(dir->fs->store, dir->ref.user, links ? number : 0, list_link, &ls,
				  err);
	buf_release(&ls.unsaved);
	return r;
}

/* The ADK file name of an entry. */
static int full_name(const struct place *dir, const char *id, char *out, size_t size,
		     struct err *err)
{
	int n = dir->item ? snprintf(out, size, "%s/%s", dir->name, id)
			  : snprintf(out, size, "%s", id);

	if (n < 0 || (size_t)n >= size)
		return err_set(err, -ENAMETOOLONG, "the artifact's name is over %zu bytes",
			       size - 1);
	return 0;
}

/* A file that is in no store yet, and its place. */
static int add_scratch(const struct place *dir, struct scratch_info *info,
		       const struct node_new *by, struct place *child, struct buf *text,
		       struct err *err)
{
	int r = scratch_create(dir->fs, info, by, err);

	if (r < 0)
		return r;
	new_place(dir, info, child);
	child->ref = info->scope;
	return own_name(child, text, err);
}

int artifacts_create(const struct place *dir, const char *name, const struct node_new *by,
		     struct place *child, struct buf *text, struct err *err)
{
	CLEANUP(buf_release) struct buf id = { 0 };
	struct scratch_info info = { .dir = artifacts_directory(dir), .scope = dir->ref };
	struct place found = *dir;
	const char *rest = NULL;
	int r = artifacts_find(dir, name, &found, text, NULL);

	if (r == 0 && found.type != &artifact_link) { /* somebody made it meanwhile */
		*child = found;
		return 0;
	}
	(void)snprintf(info.name, sizeof info.name, "%s", name);
	if (name[0] == '.')
		return add_scratch(dir, &info, by, child, text, err);
	r = artifacts_decode(name, &id, err);
	if (r < 0)
		return r;
	info.is_new = true;
	if (is_user_name(dir, id.data, &rest)) {
		info.scope = user_of(dir->ref);
		info.dir = dir->ref.user;
		(void)snprintf(info.name, sizeof info.name, "%s", name + strlen(USER_PREFIX));
		(void)snprintf(info.full_name, sizeof info.full_name, "%s", rest);
	} else {
		r = full_name(dir, id.data, info.full_name, sizeof info.full_name, err);
	}
	return r < 0 ? r : add_scratch(dir, &info, by, child, text, err);
}

int artifacts_make(const struct place *dir, const char *name, const struct node_new *by,
		   struct err *err)
{
	CLEANUP(buf_release) struct buf id = { 0 };
	struct artifact_attr attr;
	struct artifact_info info;
	char full[1024];
	int r;

	if (name[0] == '.')
		return err_set(err, -EINVAL,
			       "directories that start with a dot are written %%2E here");
	if (scratch_find(dir->fs, artifacts_directory(dir), name, NULL))
		return err_set(err, -EEXIST, "there is '%s' already", name);
	r = artifacts_decode(name, &id, err);
	if (r == 0)
		r = full_name(dir, id.data, full, sizeof full, err);
	if (r < 0)
		return r;
	node_attr_of_new(by, &attr);
	r = artifact_mkdir(dir->fs->store, dir->ref, artifacts_directory(dir), id.data, full, &attr,
			   &info, err);
	if (r == 0)
		inode_remade(&dir->fs->inodes, node_ino(info.number, ID_OBJECT));
	return r;
}

/*
 * The artifact of that name, if there is one, is about to go or to be called otherwise: what
 * was closed before is saved before, and who has it open keeps those bytes.
 */
static void settle_name(struct fs *fs, uint64_t dir, const char *id)
{
	struct artifact_info info;
	struct inode *inode;

	if (artifact_find(fs->store, dir, id, &info, NULL) < 0 || info.is_directory)
		return;
	inode = inode_find(&fs->inodes, node_ino(info.number, ID_OBJECT));
	if (!inode)
		return;
	(void)!draft_settle(inode, NULL); /* else the last close says why */
	draft_keep_open(fs, inode->ino);
}

/* Remove a file that was not saved yet. False: it is saved meanwhile. */
static bool remove_unsaved(struct fs *fs, uint64_t number)
{
	bool is_there;

	scratch_hold(fs, number);
	is_there = scratch_get(fs, number, NULL, NULL);
	if (is_there)
		scratch_unlink(fs, number);
	scratch_let(fs, number);
	return is_there;
}

int artifacts_remove(const struct place *dir, const char *name, struct err *err)
{
	CLEANUP(buf_release) struct buf id = { 0 };
	struct scratch_info scratch;
	const char *rest;
	int r;

	if (scratch_find(dir->fs, artifacts_directory(dir), name, &scratch) &&
	    remove_unsaved(dir->fs, scratch.number))
		return 0;
	r = artifacts_decode(name, &id, err);
	if (r < 0)
		return r;
	if (is_user_name(dir, id.data, &rest))
		return -EOPNOTSUPP; /* a link: what others use is not deleted through it */
	settle_name(dir->fs, artifacts_directory(dir), id.data);
	return artifact_remove(dir->fs->store, dir->ref, artifacts_directory(dir), id.data, err);
}

int artifacts_remove_dir(const struct place *dir, const char *name, struct err *err)
{
	CLEANUP(buf_release) struct buf id = { 0 };
	struct artifact_info info;
	int r;

	if (name[0] == '.')
		return -EOPNOTSUPP; /* .versions */
	r = artifacts_decode(name, &id, err);
	if (r == 0)
		r = artifact_find(dir->fs->store, artifacts_directory(dir), id.data, &info, err);
	if (r == 0 && scratch_any(dir->fs, info.number))
		r = err_set(err, -ENOTEMPTY, "'%s' is not empty", info.full_name);
	return r < 0 ? r
		     : artifact_rmdir(dir->fs->store, dir->ref, artifacts_directory(dir), id.data,
				      err);
}

/* Renaming. What has no version is moved, or published; what has one is renamed in the store. */

struct renaming {
	const struct place *dir;
	const char *name;
	const struct place *new_dir;
	const char *new_name; /* file names */
	bool must_be_new;
	const char *new_id; /* ADK's component; NULL: the new name is scratch */
	char new_full[1024];
	const char *user_rest; /* set: the new name is a user's, seen from a session */
};

/* The kernel's inode of it goes along. */
static int move_inode(const struct renaming *rn, uint64_t number, const struct node_type *type,
		      const char *name, struct err *err)
{
	struct fs *fs = rn->dir->fs;
	struct place at = *rn->new_dir;
	uint64_t parent = inode_number(rn->new_dir);

	at.inode = NULL;
	at.type = type;
	at.parent = artifacts_directory(rn->new_dir);
	at.item = number;
	at.name = name;
	if (inode_move(&fs->inodes, &at, parent, rn->new_name) < 0)
		return err_nomem(err);
	notify_attributes(fs, node_ino(number, ID_OBJECT));
	return 0;
}

/* What a file that is in no store has becomes a version of the new name. */
static int publish_scratch(const struct renaming *rn, const struct scratch_info *info,
			   struct draft *draft, struct err *err)
{
	struct place at = *rn->new_dir;
	struct ref via = { 0 };

	at.item = info->number;
	at.parent = artifacts_directory(rn->new_dir);
	at.name = rn->new_full;
	at.n = 0;
	if (rn->user_rest) {
		via = at.ref;
		at.ref = user_of(at.ref);
		at.parent = at.ref.user;
		at.name = rn->user_rest;
	}
	return draft_publish(draft, &at, via, err);
}

/* Somebody is about to make an artifact of that name: the one that is renamed is it. */
static void drop_unsaved(struct fs *fs, uint64_t dir, const char *name)
{
	struct scratch_info info;

	if (scratch_find(fs, dir, name, &info))
		(void)remove_unsaved(fs, info.number); /* saved meanwhile: then it is replaced */
}

static int rename_scratch(const struct renaming *rn, const struct scratch_info *info,
			  struct draft *draft, struct err *err)
{
	struct fs *fs = rn->dir->fs;
	int r;

	if (!rn->new_id) {
		scratch_move(fs, info->number, artifacts_directory(rn->new_dir), rn->new_name);
		return move_inode(rn, info->number, &scratch_node, rn->new_name, err);
	}
	drop_unsaved(fs, artifacts_directory(rn->new_dir), rn->new_name);
	settle_name(fs, artifacts_directory(rn->new_dir), rn->new_id);
	r = publish_scratch(rn, info, draft, err);
	if (r < 0)
		return r;
	if (!rn->user_rest)
		return move_inode(rn, info->number, &artifact_file, rn->new_full, err);
	inode_removed(&fs->inodes, node_ino(info->number, ID_OBJECT));
	return 1; /* the name is a link */
}

/* An artifact leaves its name for one that is scratch: its versions go. */
static int rename_to_scratch(const struct renaming *rn, const struct artifact_info *a,
			     const char *id, struct err *err)
{
	struct fs *fs = rn->dir->fs;
	struct scratch_info info = { .number = a->number,
				     .dir = artifacts_directory(rn->new_dir),
				     .scope = rn->dir->ref,
				     .attr = a->attr };
	struct draft *draft;
	int r;

	if (a->is_directory)
		return err_set(err, -EINVAL,
			       "directories that start with a dot are written %%2E here");
	(void)snprintf(info.name, sizeof info.name, "%s", rn->new_name);
	draft = draft_new(fs->store, true);
	r = draft ? draft_load(draft, a->history, a->latest, err) : err_nomem(err);
	if (r == 0)
		r = artifact_remove(fs->store, rn->dir->ref, artifacts_directory(rn->dir), id, err);
	if (r == 0) {
		drop_unsaved(fs, info.dir, rn->new_name);
		r = scratch_add(fs, &info, draft, err);
	}
	draft_unref(draft);
	if (r < 0)
		return r;
	inode_restored(&fs->inodes, node_ino(a->number, ID_OBJECT));
	return move_inode(rn, a->number, &scratch_node, rn->new_name, err);
}

/* The type of what is there under the new name. */
static void guess_type(struct store *st, const struct artifact_info *a, const char *name,
		       char *mime, size_t size)
{
	CLEANUP(buf_release) struct buf head = { 0 };
	CLEANUP(blob_close) struct blob blob;

	blob_init(&blob, st);
	if (artifact_blob(st, a->history, a->latest, &blob, NULL, NULL) == 0)
		(void)!blob_read(&blob, 0, MIME_LOOK_BYTES, &head, NULL); /* else by name */
	mime_guess(buf_span(&head), name, mime, size);
}

static int rename_stored(const struct renaming *rn, struct artifact_info *a, const char *id,
			 struct err *err)
{
	struct fs *fs = rn->dir->fs;
	char mime[128] = "";
	struct artifact_rename change = { .scope = rn->dir->ref,
					  .parent = artifacts_directory(rn->dir),
					  .name = id,
					  .new_parent = artifacts_directory(rn->new_dir),
					  .new_name = rn->new_id,
					  .new_full_name = rn->new_full,
					  .must_be_new = rn->must_be_new,
					  .mime = mime };
	int r;

	if (rn->user_rest)
		return err_set(err, -EXDEV, "artifacts of the user are not the session's");
	if (a->is_directory && scratch_any(fs, a->number))
		return err_set(err, -EXDEV, "'%s' holds files", a->full_name);
	if (!a->is_directory)
		guess_type(fs->store, a, rn->new_id, mime, sizeof mime);
	drop_unsaved(fs, change.new_parent, rn->new_name);
	settle_name(fs, change.new_parent, rn->new_id);
	r = artifact_rename(fs->store, &change, a, err);
	if (r < 0)
		return r;
	draft_renamed(fs, node_ino(a->number, ID_OBJECT));
	return move_inode(rn, a->number, a->is_directory ? &artifact_directory : &artifact_file,
			  rn->new_full, err);
}

static int check_rename(const struct renaming *rn, struct err *err)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	struct place found = *rn->dir;
	int r;

	if (!same_scope(rn->dir->ref, rn->new_dir->ref))
		return err_set(err, -EXDEV, "artifacts of others can be copied, not moved");
	r = artifacts_find(rn->dir, rn->name, &found, &text, err);
	if (r < 0)
		return r;
	if (found.type == &artifact_link)
		return err_set(err, -EPERM, "%s is the user's", rn->name);
	if (rn->must_be_new && artifacts_find(rn->new_dir, rn->new_name, &found, &text, NULL) == 0)
		return err_set(err, -EEXIST, "there is '%s' already", rn->new_name);
	return 0;
}

static int rename_found(const struct renaming *rn, struct err *err)
{
	CLEANUP(buf_release) struct buf id = { 0 };
	struct scratch_info scratch;
	struct artifact_info a;
	struct draft *draft;
	int r;

	if (scratch_find(rn->dir->fs, artifacts_directory(rn->dir), rn->name, &scratch) &&
	    scratch_get(rn->dir->fs, scratch.number, NULL, &draft)) {
		r = rename_scratch(rn, &scratch, draft, err);
		draft_unref(draft);
		if (r != -EAGAIN)
			return r;
	}
	r = artifacts_decode(rn->name, &id, err);
	if (r < 0)
		return r;
	settle_name(rn->dir->fs, artifacts_directory(rn->dir), id.data);
	r = artifact_find(rn->dir->fs->store, artifacts_directory(rn->dir), id.data, &a, err);
	if (r < 0)
		return r;
	return rn->new_id ? rename_stored(rn, &a, id.data, err)
			  : rename_to_scratch(rn, &a, id.data, err);
}

int artifacts_rename(const struct place *dir, const char *name, const struct place *new_dir,
		     const char *new_name, bool must_be_new, const struct node_new *by,
		     struct err *err)
{
	CLEANUP(buf_release) struct buf id = { 0 };
	struct renaming rn = { .dir = dir,
			       .name = name,
			       .new_dir = new_dir,
			       .new_name = new_name,
			       .must_be_new = must_be_new };
	int r = check_rename(&rn, err);

	(void)by; /* all of it is one user's */
	if (r == 0 && new_name[0] != '.') {
		r = artifacts_decode(new_name, &id, err);
		rn.new_id = id.data;
		if (r == 0 && !is_user_name(new_dir, id.data, &rn.user_rest))
			r = full_name(new_dir, id.data, rn.new_full, sizeof rn.new_full, err);
	}
	return r < 0 ? r : rename_found(&rn, err);
}

const struct node_type artifacts_entries[] = {
	{ .name = ".versions",
	  .id = ID_VERSIONS,
	  .mode = S_IFDIR | 0700,
	  .flags = NODE_UNLISTED | NODE_SHOWS_STATE,
	  .help = "every version: .versions/NAME/N, and N.json about it",
	  .stat = artifacts_top_stat,
	  .list = versions_list,
	  .find = versions_find },
	{ 0 },
};
