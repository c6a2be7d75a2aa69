/*
 * turns/<n>/context/: see context.h. The tables are at the end.
 */
#include "fs/names/context.h"

#include "base/name.h"
#include "fs/draft/draft.h"
#include "fs/draft/text.h"
#include "fs/names/memory.h"
#include "fs/tree/fs.h"
#include "fs/tree/tree.h"
#include "runner/runner.h"
#include "store/artifact/saves.h"
#include "store/session/state.h"
#include "store/turn/turn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int context_of(const struct place *at, struct context **out, struct err *err)
{
	struct context *c = context_use(runner_contexts(at->fs->runner), at->parent);

	if (!c)
		return err_set(err, -ESTALE, "the program that this was for has ended");
	*out = c;
	return 0;
}

static struct ref scope_of(struct ref session, uint64_t number)
{
	return (struct ref){ session.app, session.user, number };
}

struct ref context_scope(const struct place *at)
{
	return scope_of(at->ref, at->parent);
}

int context_create(const struct place *dir, struct scratch_info *info, const struct node_new *by,
		   struct err *err)
{
	CLEANUP(context_leave_p) struct context *c = NULL;
	int r = context_of(dir, &c, err);

	return r < 0 ? r : scratch_create(dir->fs, info, by, err);
}

/* The directory of all of a turn. */

static int stop_at_any(void *arg, struct context *c)
{
	(void)arg;
	(void)c;
	return 1;
}

static bool any_open(struct fs *fs, struct ref session, uint64_t turn)
{
	return context_list(runner_contexts(fs->runner), session, turn, 0, stop_at_any, NULL) == 1;
}

int contexts_present(const struct place *at)
{
	return any_open(at->fs, at->ref, at->n) ? 0 : -ENOENT;
}

uint64_t contexts_stamp(const struct place *turn)
{
	return scratch_dir_stamp(turn->fs, turn->item);
}

int contexts_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	if (contexts_present(at) < 0)
		return err_set(err, -ENOENT, "no program runs");
	st->size = 0;
	st->mtime = MAX(contexts_stamp(at), at->fs->mounted);
	return 0;
}

static const struct node_type *const dir_types[CONTEXT_TOOL + 1];

static void context_place(const struct place *dir, const struct context *c, struct place *child)
{
	*child = *dir;
	child->inode = NULL;
	child->type = dir_types[c->kind];
	child->item = child->parent = c->number;
	child->n = 0;
}

int contexts_find(const struct place *dir, const char *name, struct place *child, struct buf *text,
		  struct err *err)
{
	CLEANUP(buf_release) struct buf id = { 0 };
	CLEANUP(context_unref_p) struct context *c = NULL;
	int r = name_decode(span_of(name), NAME_PLAIN, &id, err);

	(void)text;
	if (r < 0)
		return r;
	if (!buf_cstr(&id))
		return err_nomem(err);
	c = context_find(runner_contexts(dir->fs->runner), dir->ref, dir->n, id.data);
	if (!c)
		return err_set(err, -ENOENT, "no program runs for %s", name);
	context_place(dir, c, child);
	return 0;
}

struct listing {
	const struct place *dir;
	struct lister *l;
};

static int list_context(void *arg, struct context *c)
{
	struct listing *ls = arg;
	CLEANUP(buf_release) struct buf name = { 0 };
	struct node_stat st = { .mtime = c->stamp };
	struct place child;

	if (name_encode(span_of(c->name), NAME_PLAIN, &name, NULL) < 0 || !buf_cstr(&name) ||
	    tree_is_hidden(ls->dir, name.data))
		return 0;
	context_place(ls->dir, c, &child);
	return lister_emit(ls->l, name.data, &child, TREE_MEMBER_COOKIE + c->number, &st);
}

int contexts_list(const struct place *dir, uint64_t after, struct lister *l, struct err *err)
{
	struct listing ls = { dir, l };

	(void)err;
	return context_list(runner_contexts(dir->fs->runner), dir->ref, dir->n, after, list_context,
			    &ls);
}

/* A context, and the files in it that only tell. */

static int part_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	CLEANUP(context_leave_p) struct context *c = NULL;
	int r = context_of(at, &c, err);

	if (r == 0)
		st->mtime = c->stamp;
	return r;
}

static int show_line(struct buf *out, struct span text, struct err *err)
{
	buf_span_add(out, text);
	buf_char(out, '\n');
	return buf_check(out, err);
}

/* A function for each text of a context. */
#define SHOW(name, text)                                                                           \
	static int name##_show(const struct place *at, struct buf *out, struct err *err)           \
	{                                                                                          \
		CLEANUP(context_leave_p) struct context *c = NULL;                                 \
		int r = context_of(at, &c, err);                                                   \
                                                                                                   \
		return r < 0 ? r : show_line(out, (text), err);                                    \
	}

SHOW(invocation_id, span_of(c->invocation))
SHOW(agent_name, span_of(c->agent))
SHOW(app_name, span_of(c->app_id))
SHOW(user_id, span_of(c->user_id))
SHOW(session_id, span_of(c->session_id))
SHOW(user_content, buf_span(&c->user_content))
SHOW(function_call_id, span_of(c->call_id))
SHOW(args, buf_span(&c->args))

/* actions.json */

static int actions_show(const struct place *at, struct buf *out, struct err *err)
{
	CLEANUP(context_leave_p) struct context *c = NULL;
	int r = context_of(at, &c, err);

	if (r == 0)
		r = context_actions(c, out);
	buf_char(out, '\n');
	return r < 0 ? r : buf_check(out, err);
}

static int actions_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	int r = actions_show(at, &text, err);

	if (r < 0)
		return r;
	st->size = text.len;
	if (at->inode)
		st->mtime = inode_text_stamp(at->inode, buf_span(&text));
	return 0;
}

static int check_actions(struct handle *h, struct span text, struct err *err)
{
	CLEANUP(context_leave_p) struct context *c = NULL;
	int r = context_of(&h->at, &c, err);

	return r < 0 ? r : context_check_actions(text, NULL, err);
}

static int set_actions(struct handle *h, struct span text, struct err *err)
{
	CLEANUP(context_leave_p) struct context *c = NULL;
	int r = context_of(&h->at, &c, err);

	return r < 0 ? r : context_set_actions(c, text, err);
}

static const struct text_rules actions_rules = {
	.max = STATE_VALUE_MAX + 1,
	.what = "actions.json",
	.check = check_actions,
	.set = set_actions,
};

static int actions_open(struct handle *h, struct err *err)
{
	return text_open(h, &actions_rules, err);
}

static const struct file_ops actions_ops = {
	.open = actions_open,
	.write = text_write,
	.truncate = text_truncate,
	.flush = text_flush,
	.release = text_release,
};

/* What the runner does. */

/* The turn's list of names, and that of its contexts, are others now. */
static void tell_lists(struct fs *fs, uint64_t turn)
{
	scratch_dir_touch(fs, turn);
	notify_attributes(fs, node_ino(turn, ID_OBJECT));
	notify_attributes(fs, node_ino(turn, ID_TURN_CONTEXT));
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
		tell_lists(fs, turn);
}

/* An artifact that is about to be saved, or was. */
struct saving {
	struct saving *next;
	uint64_t context;
	struct draft *draft; /* one reference */
	char name[1024];
	char mime[128];
};

void savings_init(struct savings *s)
{
	*s = (struct savings){ 0 };
	mutex_init(&s->lock);
}

static void saving_free(struct saving *s)
{
	draft_unref(s->draft);
	free(s);
}

void savings_release(struct savings *s) NO_THREAD_ANALYSIS /* nobody else is left */
{
	while (s->first) {
		struct saving *gone = s->first;

		s->first = gone->next;
		saving_free(gone);
	}
	mutex_release(&s->lock);
}

static void add_saving(struct savings *s, struct saving *one)
{
	mutex_lock(&s->lock);
	one->next = s->first;
	s->first = one;
	mutex_unlock(&s->lock);
}

static struct saving *take_saving(struct savings *s, uint64_t context)
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

/* What goes through the files of a context. */
struct collecting {
	struct fs *fs;
	struct context *c;
	struct buf *saves;
	struct err *err;
};

/* Open descriptors of it may be somebody's who is still there. */
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
	add_saving(&all->fs->savings, one);
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

/* The kernel's inodes of a context's rows. */
static void drop_rows(struct fs *fs, uint64_t number)
{
	unsigned id;

	for (id = ID_OBJECT; id <= ID_CONTEXT_LAST; id++) {
		inode_removed(&fs->inodes, node_ino(number, id));
		notify_attributes(fs, node_ino(number, id));
	}
}

static void drop_name(struct fs *fs, uint64_t dir, const char *id)
{
	CLEANUP(buf_release) struct buf name = { 0 };

	if (name_encode(span_of(id), NAME_PLAIN, &name, NULL) == 0 && buf_cstr(&name))
		notify_name(fs, dir, name.data);
}

/* It has ended: its files are not written any more, its names go. */
static void end(struct fs *fs, const struct context *c)
{
	uint64_t turn = turn_of(fs, c);

	(void)scratch_list_scope(fs, scope_of(c->session, c->number), 0, end_file, fs);
	drop_rows(fs, c->number);
	if (!turn)
		return;
	tell_lists(fs, turn);
	drop_name(fs, node_ino(turn, ID_TURN_CONTEXT), c->name);
	if (!any_open(fs, c->session, c->turn))
		notify_name(fs, node_ino(turn, ID_OBJECT), CONTEXTS_NAME);
}

int contexts_saves(void *arg, struct context *c, struct buf *saves, struct err *err)
{
	struct collecting all = { arg, c, saves, err };

	end(arg, c);
	return scratch_list_scope(all.fs, scope_of(c->session, c->number), 0, save_file, &all);
}

void contexts_closed(void *arg, struct context *c, bool published)
{
	struct fs *fs = arg;
	struct saving *one;

	end(fs, c);
	while ((one = take_saving(&fs->savings, c->number))) {
		if (published)
			draft_saved(one->draft);
		saving_free(one);
	}
	scratch_forget(fs, scope_of(c->session, c->number));
}

/* Keep in the order of the manual page. Each kind has the rows of those before it. */

#define TEXT_ROW(file, number, what, shown)                                                        \
	{                                                                                          \
		.name = (file), .id = (number), .mode = S_IFREG | 0400, .help = (what),            \
		.stat = part_stat, .show = (shown)                                                 \
	}

#define READONLY_ROWS                                                                              \
	TEXT_ROW("invocation_id", ID_CONTEXT_INVOCATION, "ADK's id of the turn",                   \
		 invocation_id_show),                                                              \
		TEXT_ROW("agent_name", ID_CONTEXT_AGENT, "who has the turn", agent_name_show),     \
		TEXT_ROW("app_name", ID_CONTEXT_APP, "ids of the app,", app_name_show),            \
		TEXT_ROW("user_id", ID_CONTEXT_USER, "the user", user_id_show),                    \
		TEXT_ROW("session_id", ID_CONTEXT_SESSION, "and the session", session_id_show),    \
		TEXT_ROW("user_content.json", ID_CONTEXT_CONTENT, "the turn's message",            \
			 user_content_show)

#define CALLBACK_ROWS                                                                              \
	{ .name = "state",                                                                         \
	  .id = ID_CONTEXT_STATE,                                                                  \
	  .mode = S_IFDIR | 0700,                                                                  \
	  .flags = NODE_FRESH,                                                                     \
	  .help = "every key, temp: too, with what the program changed",                           \
	  .stat = context_state_stat,                                                              \
	  .list = context_state_list,                                                              \
	  .find = context_state_find,                                                              \
	  .create = context_state_create,                                                          \
	  .remove = context_state_remove,                                                          \
	  .rename = context_state_rename },                                                        \
		{ .name = "state.json",                                                            \
		  .id = ID_CONTEXT_STATE_JSON,                                                     \
		  .mode = S_IFREG | 0600,                                                          \
		  .flags = NODE_FRESH,                                                             \
		  .help = "the same as one object",                                                \
		  .stat = context_map_stat,                                                        \
		  .show = context_map_show,                                                        \
		  .file = &context_map_ops },                                                      \
	{                                                                                          \
		.name = "artifacts", .id = ID_CONTEXT_ARTIFACTS, .mode = S_IFDIR | 0700,           \
		.flags = NODE_FRESH, .help = "the session's, with what the program saved",         \
		.stat = context_artifacts_stat, .list = context_artifacts_list,                    \
		.find = context_artifacts_find, .create = context_artifacts_create,                \
		.make = context_artifacts_make, .remove = context_artifacts_remove,                \
		.remove_dir = context_artifacts_remove_dir, .rename = context_artifacts_rename     \
	}

#define TOOL_ROWS                                                                                  \
	TEXT_ROW("function_call_id", ID_CONTEXT_CALL, "which call it is", function_call_id_show),  \
		TEXT_ROW("args.json", ID_CONTEXT_ARGS, "what it was called with", args_show),      \
		{ .name = "actions.json",                                                          \
		  .id = ID_CONTEXT_ACTIONS,                                                        \
		  .mode = S_IFREG | 0600,                                                          \
		  .flags = NODE_FRESH,                                                             \
		  .help = "write transferToAgent, escalate, skipSummarization",                    \
		  .stat = actions_stat,                                                            \
		  .show = actions_show,                                                            \
		  .file = &actions_ops },                                                          \
	{                                                                                          \
		.name = "memory", .id = ID_CONTEXT_MEMORY, .mode = S_IFDIR | 0700,                 \
		.stat = part_stat, .entries = memory_entries_of_context                            \
	}

static const struct node_type memory_entries_of_context[] = {
	{ .name = "search",
	  .id = ID_CONTEXT_SEARCH,
	  .mode = S_IFDIR | 0700,
	  .help = "any name is a query of the user's memory",
	  .stat = part_stat,
	  .find = memory_query_find },
	{ 0 },
};

static const struct node_type readonly_entries[] = { READONLY_ROWS, { 0 } };
static const struct node_type callback_entries[] = { READONLY_ROWS, CALLBACK_ROWS, { 0 } };
static const struct node_type tool_entries[] = { READONLY_ROWS, CALLBACK_ROWS, TOOL_ROWS, { 0 } };

#define CONTEXT_DIR(rows)                                                                          \
	{                                                                                          \
		.name = "<call>", .id = ID_OBJECT, .mode = S_IFDIR | 0700, .entries = (rows),      \
		.stat = part_stat                                                                  \
	}

static const struct node_type readonly_dir = CONTEXT_DIR(readonly_entries);
static const struct node_type callback_dir = CONTEXT_DIR(callback_entries);
const struct node_type context_dir = CONTEXT_DIR(tool_entries);

static const struct node_type *const dir_types[] = {
	[CONTEXT_READONLY] = &readonly_dir,
	[CONTEXT_CALLBACK] = &callback_dir,
	[CONTEXT_TOOL] = &context_dir,
};
