/*
 * Places in artifacts/: see artifacts.h.
 */
#include "base/name.h"
#include "fs/names/artifacts_inside.h"
#include "fs/tree/fs.h"

#include <errno.h>
#include <stdio.h>

uint64_t artifacts_directory(const struct place *dir)
{
	return dir->item ? dir->item : ref_number(dir->ref);
}

bool artifacts_is_top(const struct place *dir)
{
	return dir->ref.session && !dir->item;
}

void artifacts_show(const struct artifact_info *info, struct node_stat *st)
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
	int r = artifact_stat(at->fs->store, at->parent, at->item, &info, err);

	if (r < 0)
		return r;
	artifacts_show(&info, st);
	if (stamp) { /* the list changed after the directory's time was set */
		st->mtime = MAX(st->mtime, stamp);
		st->ctime = MAX(st->ctime, stamp);
		st->attr.has &= ~(unsigned)ATTR_MTIME;
	}
	return 0;
}

void artifacts_stored_place(const struct place *dir, const struct artifact_info *info,
			    struct place *child)
{
	*child = place_child(
		dir,
		&dir->type->members[info->is_directory ? ARTIFACTS_DIRECTORY : ARTIFACTS_FILE]);
	child->parent = artifacts_directory(dir);
	child->item = info->number;
}

/* A new artifact looks like an artifact even before its first save. */
void artifacts_new_place(const struct place *dir, const struct scratch_info *info,
			 struct place *child)
{
	scratch_place(dir, info, child);
	if (!info->is_new)
		return;
	child->type = &dir->type->members[ARTIFACTS_FILE];
	child->name = info->full_name;
}

int artifacts_decode(const char *name, struct buf *id, struct err *err)
{
	int r;

	if (name[0] == '.')
		return err_set(err, -ENOENT, "there is no %s here", name);
	r = name_decode(span_of(name), NAME_HIDE_DOT, id, err);
	if (r == 0 && (memchr(id->data, 0, id->len) || memchr(id->data, '/', id->len)))
		r = err_set(err, -EINVAL, "an artifact's name cannot contain a NUL or a slash");
	return r < 0 ? r : buf_cstr(id) ? 0 : err_nomem(err);
}

bool artifacts_is_user_name(const struct place *dir, const char *id, const char **rest)
{
	size_t n = strlen(ARTIFACTS_USER_PREFIX);

	if (!artifacts_is_top(dir) || strncmp(id, ARTIFACTS_USER_PREFIX, n) != 0 || !id[n])
		return false;
	*rest = id + n;
	return true;
}

static int find_link(const struct place *dir, const char *rest, struct place *child,
		     struct buf *text, struct err *err)
{
	struct artifact_info info;
	int r = artifact_find(dir->fs->store, dir->ref.user, rest, &info, err);

	if (r < 0)
		return r;
	*child = place_child(dir, &dir->type->members[ARTIFACTS_LINK]);
	child->item = info.number;
	child->name = info.name;
	return place_copy_name(child, child->name, text, err);
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
		artifacts_new_place(dir, &scratch, child);
		return place_copy_name(child, child->name, text, err);
	}
	r = artifacts_decode(name, &id, err);
	if (r < 0)
		return r;
	if (artifacts_is_user_name(dir, id.data, &rest))
		return find_link(dir, rest, child, text, err);
	r = artifact_find(dir->fs->store, artifacts_directory(dir), id.data, &info, err);
	if (r < 0)
		return r;
	artifacts_stored_place(dir, &info, child);
	child->name = info.full_name;
	return place_copy_name(child, child->name, text, err);
}

int artifacts_full_name(const struct place *dir, const char *id, char *out, size_t size,
			struct err *err)
{
	int n = dir->item ? snprintf(out, size, "%s/%s", dir->name, id)
			  : snprintf(out, size, "%s", id);

	if (n < 0 || (size_t)n >= size)
		return err_set(err, -ENAMETOOLONG, "the artifact's name is longer than %zu bytes",
			       size - 1);
	return 0;
}

void artifacts_settle(struct fs *fs, uint64_t dir, const char *id)
{
	struct artifact_info info;
	struct inode *inode;

	if (artifact_find(fs->store, dir, id, &info, NULL) < 0 || info.is_directory)
		return;
	inode = inode_find(&fs->inodes, node_ino(info.number, ID_OBJECT));
	if (!inode)
		return;
	(void)!draft_settle(inode, NULL); /* on failure the last close reports the reason */
	draft_keep_open(fs, inode->ino);
}

bool artifacts_remove_unsaved(struct fs *fs, uint64_t number)
{
	bool is_there;

	scratch_hold(fs, number);
	is_there = scratch_get(fs, number, NULL, NULL);
	if (is_there)
		scratch_unlink(fs, number);
	scratch_let(fs, number);
	return is_there;
}
