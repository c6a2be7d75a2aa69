/*
 * Renaming in artifacts/: a scratch file is moved or becomes a version; an artifact
 * is renamed in the store or becomes a scratch file. See artifacts.h.
 */
#include "fs/names/artifacts_inside.h"

#include "fs/tree/fs.h"
#include "store/artifact/mime.h"

#include <errno.h>
#include <stdio.h>

struct renaming {
	const struct place *dir;
	const char *name;
	const struct place *new_dir;
	const char *new_name; /* a file name, as name is */
	bool must_be_new;
	const char *new_id;    /* component of an ADK name; NULL: new_name is a scratch name */
	char new_full[1024];   /* the new ADK name */
	const char *user_rest; /* set: new_name is a user's file, seen from a session */
};

/* Move the inode to the new name. */
static int move_inode(const struct renaming *rn, uint64_t number, const struct node_type *type,
		      const char *name, struct err *err)
{
	struct fs *fs = rn->dir->fs;
	struct place at = place_child(rn->new_dir, type);
	uint64_t parent = inode_number(rn->new_dir);

	at.parent = artifacts_directory(rn->new_dir);
	at.item = number;
	at.name = name;
	if (inode_move(&fs->inodes, &at, parent, rn->new_name) < 0)
		return err_nomem(err);
	notify_attributes(&fs->notify, node_ino(number, ID_OBJECT));
	return 0;
}

/* Save the draft of a scratch file as a version of the new name. */
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
		at.ref = ref_parent(at.ref);
		at.parent = at.ref.user;
		at.name = rn->user_rest;
	}
	return draft_publish(draft, &at, via, err);
}

/* Remove a new artifact that was not saved yet: a rename is about to replace it. */
static void drop_unsaved(struct fs *fs, uint64_t dir, const char *name)
{
	struct scratch_info info;

	if (scratch_find(fs, dir, name, &info))
		(void)artifacts_remove_unsaved(
			fs,
			info.number); /* if it was saved in the meantime, the store replaces it */
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
	artifacts_settle(fs, artifacts_directory(rn->new_dir), rn->new_id);
	r = publish_scratch(rn, info, draft, err);
	if (r < 0)
		return r;
	if (!rn->user_rest)
		return move_inode(rn, info->number, &rn->new_dir->type->members[ARTIFACTS_FILE],
				  rn->new_full, err);
	inode_removed(&fs->inodes, node_ino(info->number, ID_OBJECT));
	return 1; /* the new name is a link */
}

/* Turn an artifact into a scratch file with its latest bytes; its versions are removed. */
static int rename_artifact_to_scratch(const struct renaming *rn, const struct artifact_info *a,
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
			       "in the name of a directory here, write a leading dot as %%2E");
	(void)snprintf(info.name, sizeof info.name, "%s", rn->new_name);
	draft = draft_new(fs->store, true);
	r = draft ? draft_load(draft, a->history, a->latest, err) : err_nomem(err);
	if (r == 0)
		r = artifact_remove(
			fs->store,
			(struct artifact_name){ rn->dir->ref, artifacts_directory(rn->dir), id },
			err);
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

/* Guess the MIME type by the new name and the first bytes. */
static void guess_type(struct store *st, const struct artifact_info *a, const char *name,
		       char *mime, size_t size)
{
	CLEANUP(buf_release) struct buf head = { 0 };
	CLEANUP(blob_close) struct blob blob;

	blob_init(&blob, st);
	if (artifact_blob(st, a->history, a->latest, &blob, NULL, NULL) == 0)
		(void)!blob_read(&blob, 0, MIME_LOOK_BYTES, &head,
				 NULL); /* on failure the name decides */
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
		return err_set(err, -EXDEV,
			       "an artifact cannot be moved between the session and the user");
	if (a->is_directory && scratch_any(fs, a->number))
		return err_set(err, -EXDEV, "directory '%s' is not empty: copy it", a->full_name);
	if (!a->is_directory)
		guess_type(fs->store, a, rn->new_id, mime, sizeof mime);
	drop_unsaved(fs, change.new_parent, rn->new_name);
	artifacts_settle(fs, change.new_parent, rn->new_id);
	r = artifact_rename(fs->store, &change, a, err);
	if (r < 0)
		return r;
	draft_renamed(fs, node_ino(a->number, ID_OBJECT));
	return move_inode(
		rn, a->number,
		&rn->new_dir->type->members[a->is_directory ? ARTIFACTS_DIRECTORY : ARTIFACTS_FILE],
		rn->new_full, err);
}

static int check_rename(const struct node_rename *rn, struct err *err)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	struct place found = *rn->dir;
	int r;

	if (ref_number(rn->dir->ref) != ref_number(rn->new_dir->ref))
		return err_set(err, -EXDEV,
			       "an artifact of another session or user can only be copied");
	r = artifacts_find(rn->dir, rn->name, &found, &text, err);
	if (r < 0)
		return r;
	if (S_ISLNK(found.type->mode))
		return err_set(err, -EPERM,
			       "%s belongs to the user: rename it in the user's artifacts/",
			       rn->name);
	if (rn->must_be_new && artifacts_find(rn->new_dir, rn->new_name, &found, &text, NULL) == 0)
		return err_set(err, -EEXIST, "there is '%s' already", rn->new_name);
	return 0;
}

static int rename_entry(const struct renaming *rn, struct err *err)
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
	artifacts_settle(rn->dir->fs, artifacts_directory(rn->dir), id.data);
	r = artifact_find(rn->dir->fs->store, artifacts_directory(rn->dir), id.data, &a, err);
	if (r < 0)
		return r;
	return rn->new_id ? rename_stored(rn, &a, id.data, err)
			  : rename_artifact_to_scratch(rn, &a, id.data, err);
}

int artifacts_rename(const struct node_rename *wanted, struct err *err)
{
	CLEANUP(buf_release) struct buf id = { 0 };
	struct renaming rn = { .dir = wanted->dir,
			       .name = wanted->name,
			       .new_dir = wanted->new_dir,
			       .new_name = wanted->new_name,
			       .must_be_new = wanted->must_be_new };
	int r = check_rename(wanted, err);

	if (r == 0 && rn.new_name[0] != '.') {
		r = artifacts_decode(rn.new_name, &id, err);
		rn.new_id = id.data;
		if (r == 0 && !artifacts_is_user_name(rn.new_dir, id.data, &rn.user_rest))
			r = artifacts_full_name(rn.new_dir, id.data, rn.new_full,
						sizeof rn.new_full, err);
	}
	return r < 0 ? r : rename_entry(&rn, err);
}
