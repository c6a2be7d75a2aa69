/*
 * Listing of artifacts/: see artifacts.h.
 */
#include "fs/names/artifacts_inside.h"

#include "base/name.h"
#include "fs/tree/tree.h"

#define COOKIE_STEP (1ull << 53)

struct listing {
	const struct place *dir;
	struct lister *l;
	struct buf unsaved; /* numbers of files that were not in the store when the listing began */
	size_t next;        /* index in unsaved */
};

static int emit_stored(const struct listing *ls, const struct artifact_info *info)
{
	CLEANUP(buf_release) struct buf name = { 0 };
	struct node_stat st = { 0 };
	struct place child;

	if (name_encode(span_of(info->name), NAME_HIDE_DOT, &name, NULL) < 0 || !buf_cstr(&name))
		return 0;
	artifacts_stored_place(ls->dir, info, &child);
	child.name = info->full_name;
	artifacts_show(info, &st);
	return lister_emit(ls->l, name.data, &child, info->number,
			   S_ISREG(child.type->mode) ? &st : NULL);
}

/* Emit a file that was not in the store when the listing began, but may be by now. */
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
		return 0; /* the file was moved to another directory */
	artifacts_new_place(ls->dir, &scratch, &child);
	return lister_emit(ls->l, scratch.name, &child, number, NULL);
}

static uint64_t next_unsaved(const struct listing *ls)
{
	size_t n;
	const uint64_t *numbers = BUF_LIST(uint64_t, &ls->unsaved, &n);

	return ls->next < n ? numbers[ls->next] : UINT64_MAX;
}

static int list_unsaved(struct listing *ls, uint64_t below)
{
	int r = 0;

	while (r == 0 && next_unsaved(ls) < below) {
		r = emit_unsaved(ls, next_unsaved(ls));
		ls->next++;
	}
	return r;
}

static int list_stored(void *arg, const struct artifact_info *info)
{
	struct listing *ls = arg;
	int r = list_unsaved(ls, info->number);

	if (r == 0 && next_unsaved(ls) == info->number)
		ls->next++;
	return r ? r : emit_stored(ls, info);
}

static int note_unsaved(void *arg, const struct scratch_info *info)
{
	struct listing *ls = arg;

	buf_add(&ls->unsaved, &info->number, sizeof info->number);
	return 0;
}

/*
 * List stored and unsaved files together, sorted by number. A file keeps its number when it is
 * saved, so it is listed once, even if it is saved during the listing.
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
	struct place child = place_child(ls->dir, &ls->dir->type->members[ARTIFACTS_LINK]);

	buf_printf(&id, ARTIFACTS_USER_PREFIX "%s", info->name);
	if (name_encode(buf_span(&id), NAME_HIDE_DOT, &name, NULL) < 0 || !buf_cstr(&name))
		return 0;
	child.item = info->number;
	child.name = info->name;
	return lister_emit(ls->l, name.data, &child, COOKIE_STEP + info->number, NULL);
}

/* List the files, then the links to the user's files. */
int artifacts_list(const struct place *dir, uint64_t after, struct lister *l, struct err *err)
{
	struct listing ls = { .dir = dir, .l = l };
	bool links = after / COOKIE_STEP;
	uint64_t number = after % COOKIE_STEP;
	int r = links ? 0 : list_files(&ls, number, err);

	if (r == 0 && artifacts_is_top(dir))
		r = artifact_list(dir->fs->store, dir->ref.user, links ? number : 0, list_link, &ls,
				  err);
	buf_release(&ls.unsaved);
	return r;
}
