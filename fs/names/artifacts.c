/*
 * artifacts/: see artifacts.h.
 *
 * A file has the latest version of an artifact. Written bytes become a version when
 * the file is closed (draft/save.c). A name that starts with a dot is a scratch
 * file; a rename turns the scratch file into a version.
 */
#include "fs/names/artifacts_inside.h"

#include "base/name.h"
#include "fs/names/versions.h"
#include "fs/tree/fs.h"
#include "fs/tree/tree.h"

#include <errno.h>
#include <stdio.h>

int artifacts_top_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	struct scopes scopes;
	int r = scope_stat_all(at->fs->store, at->ref, &scopes, err);

	if (r < 0)
		return r;
	st->mtime = MAX(scopes.session.artifacts_stamp, scopes.user.artifacts_stamp);
	st->mtime = MAX(st->mtime, at->fs->mounted);
	st->mtime = MAX(st->mtime, scratch_dir_stamp(at->fs, ref_number(at->ref)));
	return 0;
}

static int artifact_file_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	struct scratch_info scratch;
	struct artifact_info info;
	int r;

	if (scratch_get(at->fs, at->item, &scratch, NULL)) {
		scratch_stat(&scratch, st);
		st->size = draft_largest(at); /* 0, unless the draft may be mapped */
		return 0;
	}
	r = artifact_stat(at->fs->store, at->parent, at->item, &info, err);
	if (r == -ENOENT && draft_stat_unlinked(at, st))
		return 0;
	if (r < 0)
		return r;
	artifacts_show(&info, st);
	/* A process may have mapped a longer draft, which a shorter size would cut off. */
	st->size = MAX(st->size, draft_largest(at));
	return 0;
}

static int set_attr(const struct place *at, const struct artifact_attr *attr, struct err *err)
{
	/* Save closed drafts first: a later save would set other times. */
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

static int artifact_link_target(const struct place *at, struct buf *out, struct err *err)
{
	CLEANUP(buf_release) struct buf name = { 0 };
	int r = name_encode(span_of(at->name), NAME_HIDE_DOT, &name, err);

	buf_text(out, "../../../artifacts/");
	buf_span_add(out, buf_span(&name));
	return r < 0 ? r : buf_check(out, err);
}

/* A link exists as long as the user's file. */
static int artifact_link_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	struct artifact_info info;

	(void)st;
	return artifact_stat(at->fs->store, at->ref.user, at->item, &info, err);
}

/* Make a scratch file, or a new artifact before its first save, and its place. */
static int add_scratch(const struct place *dir, struct scratch_info *info,
		       const struct node_new *by, struct place *child, struct buf *text,
		       struct err *err)
{
	int r = scratch_create(dir->fs, info, by, err);

	if (r < 0)
		return r;
	artifacts_new_place(dir, info, child);
	child->ref = info->scope;
	return place_copy_name(child, child->name, text, err);
}

static int artifacts_create(const struct place *dir, const char *name, const struct node_new *by,
			    struct place *child, struct buf *text, struct err *err)
{
	CLEANUP(buf_release) struct buf id = { 0 };
	struct scratch_info info = { .dir = artifacts_directory(dir), .scope = dir->ref };
	struct place found = *dir;
	const char *rest = NULL;
	int r = artifacts_find(dir, name, &found, text, NULL);

	if (r == 0 &&
	    !S_ISLNK(found.type->mode)) { /* another open has made the file in the meantime */
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
	if (artifacts_is_user_name(dir, id.data, &rest)) {
		info.scope = ref_parent(dir->ref);
		info.dir = dir->ref.user;
		(void)snprintf(info.name, sizeof info.name, "%s",
			       name + strlen(ARTIFACTS_USER_PREFIX));
		(void)snprintf(info.full_name, sizeof info.full_name, "%s", rest);
	} else {
		r = artifacts_full_name(dir, id.data, info.full_name, sizeof info.full_name, err);
	}
	return r < 0 ? r : add_scratch(dir, &info, by, child, text, err);
}

static int artifacts_make(const struct place *dir, const char *name, const struct node_new *by,
			  struct err *err)
{
	CLEANUP(buf_release) struct buf id = { 0 };
	struct artifact_attr attr;
	struct artifact_info info;
	const char *rest;
	char full[1024];
	int r;

	if (name[0] == '.')
		return err_set(err, -EINVAL,
			       "in the name of a directory here, write a leading dot as %%2E");
	if (scratch_find(dir->fs, artifacts_directory(dir), name, NULL))
		return err_set(err, -EEXIST, "there is '%s' already", name);
	r = artifacts_decode(name, &id, err);
	/* A directory of the user would be a link here, but mkdir(2) needs a directory. */
	if (r == 0 && artifacts_is_user_name(dir, id.data, &rest))
		r = err_set(err, -EPERM, "make a directory of the user in the user's artifacts/");
	if (r == 0)
		r = artifacts_full_name(dir, id.data, full, sizeof full, err);
	if (r < 0)
		return r;
	node_attr_of_new(by, &attr);
	r = artifact_mkdir(dir->fs->store,
			   (struct artifact_name){ dir->ref, artifacts_directory(dir), id.data },
			   full, &attr, &info, err);
	if (r == 0)
		inode_remade(&dir->fs->inodes, node_ino(info.number, ID_OBJECT));
	return r;
}

static int artifacts_remove(const struct place *dir, const char *name, struct err *err)
{
	CLEANUP(buf_release) struct buf id = { 0 };
	struct scratch_info scratch;
	const char *rest;
	int r;

	if (scratch_find(dir->fs, artifacts_directory(dir), name, &scratch) &&
	    artifacts_remove_unsaved(dir->fs, scratch.number))
		return 0;
	r = artifacts_decode(name, &id, err);
	if (r < 0)
		return r;
	if (artifacts_is_user_name(dir, id.data, &rest))
		return -EOPNOTSUPP; /* a link: the user's file is not deleted through it */
	artifacts_settle(dir->fs, artifacts_directory(dir), id.data);
	return artifact_remove(
		dir->fs->store,
		(struct artifact_name){ dir->ref, artifacts_directory(dir), id.data }, err);
}

static int artifacts_remove_dir(const struct place *dir, const char *name, struct err *err)
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
		     : artifact_rmdir(dir->fs->store,
				      (struct artifact_name){ dir->ref, artifacts_directory(dir),
							      id.data },
				      err);
}

const struct dir_ops artifacts_ops = {
	.list = artifacts_list,
	.find = artifacts_find,
	.create = artifacts_create,
	.make = artifacts_make,
	.remove = artifacts_remove,
	.remove_dir = artifacts_remove_dir,
	.rename = artifacts_rename,
};

const struct node_type artifacts_entries[] = {
	{ .name = ".versions",
	  .id = ID_VERSIONS,
	  .mode = S_IFDIR | 0700,
	  .flags = NODE_UNLISTED | NODE_SHOWS_ABOVE,
	  .news = NEWS_ARTIFACTS,
	  .help = "every version: .versions/NAME/N, and N.json about it",
	  .stat = artifacts_top_stat,
	  .members = versions_members,
	  .dir = &versions_ops },
	{ 0 },
};

const struct node_type artifacts_members[] = {
	[ARTIFACTS_FILE] = { .name = "<name>",
			     .id = ID_OBJECT,
			     .mode = S_IFREG | 0600,
			     .stat = artifact_file_stat,
			     .read = draft_read,
			     .file = &draft_ops,
			     .set_attr = set_attr },
	[ARTIFACTS_DIRECTORY] = { .name = "<directory>",
				  .id = ID_OBJECT,
				  .mode = S_IFDIR | 0700,
				  .members = artifacts_members,
				  .stat = artifacts_directory_stat,
				  .set_attr = set_directory_attr,
				  .dir = &artifacts_ops },
	[ARTIFACTS_LINK] = { .name = "user:<name>",
			     .id = ID_OBJECT_LINK,
			     .mode = S_IFLNK | 0777,
			     .stat = artifact_link_stat,
			     .link = artifact_link_target },
	{ 0 },
};

void artifacts_link_moved(struct fs *fs, struct ref user, uint64_t item, const char *name)
{
	struct place at = { .fs = fs,
			    .type = &artifacts_members[ARTIFACTS_LINK],
			    .ref = user,
			    .item = item,
			    .name = name };

	/* Without memory the link keeps its old target until the kernel forgets the inode. */
	(void)!inode_move(&fs->inodes, &at, 0, NULL);
}
