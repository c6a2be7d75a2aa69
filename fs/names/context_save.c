/*
 * The runner's callbacks for contexts: their names come and go, and the artifacts
 * that their programs wrote are saved. See context.h.
 */
#include "fs/draft/draft.h"
#include "fs/draft/scratch.h"
#include "fs/names/changes.h"
#include "fs/names/context.h"
#include "fs/names/turns.h"
#include "fs/tree/tree.h"
#include "runner/runner.h"
#include "store/artifact/saves.h"

#include <stdio.h>
#include <stdlib.h>

/* Drop the attributes of a turn's directory and of its `context`: their lists have changed. */
static void notify_lists(struct fs *fs, uint64_t turn)
{
	scratch_dir_touch(fs, turn);
	notify_attributes(&fs->notify, node_ino(turn, ID_OBJECT));
	notify_attributes(&fs->notify, node_ino(turn, ID_TURN_CONTEXT));
}

static uint64_t turn_of(struct fs *fs, const struct context *c)
{
	struct turn_info info;

	return turn_stat(fs->store, c->session, c->turn, &info, NULL) < 0 ? 0 : info.number;
}

void contexts_opened(void *arg, struct context *c)
{
	struct fs *fs = arg;
	uint64_t turn = turn_of(fs, c);

	if (turn)
		notify_lists(fs, turn);
}

/* An artifact that the runner is saving. */
struct saving {
	struct saving *next;
	uint64_t context;
	struct draft *draft; /* owns a reference */
	char name[1024];
	char mime[128];
};

struct savings {
	struct mutex lock;
	struct saving *first GUARDED_BY(lock);
};

struct savings *savings_new(void)
{
	struct savings *s = calloc(1, sizeof *s);

	if (s)
		mutex_init(&s->lock);
	return s;
}

static void saving_free(struct saving *s)
{
	draft_unref(s->draft);
	free(s);
}

void savings_free(struct savings *s) NO_THREAD_ANALYSIS /* no other thread is left */
{
	if (!s)
		return;
	while (s->first) {
		struct saving *gone = s->first;

		s->first = gone->next;
		saving_free(gone);
	}
	mutex_release(&s->lock);
	free(s);
}

static void add_saving(struct savings *s, struct saving *one)
{
	mutex_lock(&s->lock);
	one->next = s->first;
	s->first = one;
	mutex_unlock(&s->lock);
}

static struct saving *remove_saving(struct savings *s, uint64_t context)
{
	struct saving **at;
	struct saving *found;

	mutex_lock(&s->lock);
	for (at = &s->first; *at && (*at)->context != context; at = &(*at)->next)
		;
	found = *at;
	if (found)
		*at = found->next;
	mutex_unlock(&s->lock);
	return found;
}

/* The argument of save_file(). */
struct collecting {
	struct fs *fs;
	struct context *c;
	struct buf *saves;
	struct err *err;
};

/* End the draft of a file: another process may still have the file open and write to it. */
static int end_file(void *arg, const struct scratch_info *info)
{
	struct fs *fs = arg;
	struct draft *draft;

	if (!scratch_get(fs, info->number, NULL, &draft) || !draft)
		return 0;
	draft_end(draft);
	draft_unref(draft);
	return 0;
}

static int save_draft(struct collecting *all, const struct scratch_info *info, struct draft *draft)
{
	struct saving *one = calloc(1, sizeof *one);
	struct save save = { 0 };
	int r;

	if (!one)
		return err_nomem(all->err);
	one->context = all->c->number;
	one->draft = draft_ref(draft);
	(void)snprintf(one->name, sizeof one->name, "%s", info->full_name);
	r = draft_bytes(draft, info->name, &save.blob, one->mime, sizeof one->mime, all->err);
	save.name = one->name;
	save.mime = one->mime;
	save.attr = info->attr;
	buf_add(all->saves, &save, sizeof save);
	add_saving(all->fs->savings, one);
	return r < 0 ? r : buf_check(all->saves, all->err);
}

static int save_file(void *arg, const struct scratch_info *info)
{
	struct collecting *all = arg;
	struct draft *draft;
	int r = 0;

	if (!info->full_name[0] || info->is_directory ||
	    !scratch_get(all->fs, info->number, NULL, &draft))
		return 0;
	if (info->is_new || draft_is_written(draft))
		r = save_draft(all, info, draft);
	draft_unref(draft);
	return r;
}

/* Mark the inodes of a context's rows as removed, and drop their attributes. */
static void drop_rows(struct fs *fs, const struct node_type *rows, uint64_t number)
{
	for (; rows && rows->name; rows++) {
		inode_removed(&fs->inodes, node_ino(number, rows->id));
		notify_attributes(&fs->notify, node_ino(number, rows->id));
		drop_rows(fs, rows->entries, number);
	}
}

/* A context has ended: refuse further writes to its files, and drop its names. */
static void end_context(struct fs *fs, const struct context *c)
{
	uint64_t turn = turn_of(fs, c);

	(void)scratch_list_scope(fs, context_scope_of(c->session, c->number), 0, end_file, fs);
	inode_removed(&fs->inodes, node_ino(c->number, ID_OBJECT));
	notify_attributes(&fs->notify, node_ino(c->number, ID_OBJECT));
	drop_rows(fs, context_members[c->kind].entries, c->number);
	if (!turn)
		return;
	notify_lists(fs, turn);
	changes_drop_name(fs, node_ino(turn, ID_TURN_CONTEXT), c->name, NAME_PLAIN);
	if (!context_any_open(fs, c->session, c->turn))
		notify_name(&fs->notify, node_ino(turn, ID_OBJECT),
			    tree_row_name(&turn_dir, ID_TURN_CONTEXT));
}

int contexts_saves(void *arg, struct context *c, struct buf *saves, struct err *err)
{
	struct collecting all = { arg, c, saves, err };

	end_context(arg, c);
	return scratch_list_scope(all.fs, context_scope_of(c->session, c->number), 0, save_file,
				  &all);
}

void contexts_closed(void *arg, struct context *c, bool published)
{
	struct fs *fs = arg;
	struct saving *one;

	end_context(fs, c);
	while ((one = remove_saving(fs->savings, c->number))) {
		if (published)
			draft_saved(one->draft);
		saving_free(one);
	}
	scratch_forget(fs, context_scope_of(c->session, c->number));
}
