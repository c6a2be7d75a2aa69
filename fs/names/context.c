/*
 * turns/<n>/context/: see context.h. The tables are at the end.
 */
#include "fs/names/context.h"

#include "base/name.h"
#include "fs/draft/draft.h"
#include "fs/draft/scratch.h"
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

/* The directory of a turn's contexts. */

int contexts_present(const struct place *at)
{
	return context_any_open(at->fs, at->ref, at->n) ? 0 : -ENOENT;
}

uint64_t contexts_stamp(const struct place *turn)
{
	return scratch_dir_stamp(turn->fs, turn->item);
}

int contexts_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	if (contexts_present(at) < 0)
		return err_set(err, -ENOENT, "no program is running");
	st->mtime = MAX(contexts_stamp(at), at->fs->mounted);
	return 0;
}

static void context_place(const struct place *dir, const struct context *c, struct place *child)
{
	*child = place_child(dir, &dir->type->members[c->kind]);
	child->item = child->parent = c->number;
	child->n = 0;
}

static int contexts_find(const struct place *dir, const char *name, struct place *child,
			 struct buf *text, struct err *err)
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
		return err_set(err, -ENOENT, "no program is running for %s", name);
	context_place(dir, c, child);
	return 0;
}

static int list_context(void *arg, struct context *c)
{
	struct lister *l = arg;
	CLEANUP(buf_release) struct buf name = { 0 };
	struct node_stat st = { .mtime = c->stamp };
	struct place child;

	if (name_encode(span_of(c->name), NAME_PLAIN, &name, NULL) < 0 || !buf_cstr(&name))
		return 0;
	context_place(l->dir, c, &child);
	return lister_emit(l, name.data, &child, c->number, &st);
}

static int contexts_list(const struct place *dir, uint64_t after, struct lister *l, struct err *err)
{
	(void)err;
	return context_list(runner_contexts(dir->fs->runner), dir->ref, dir->n, after, list_context,
			    l);
}

const struct dir_ops contexts_ops = {
	.list = contexts_list,
	.find = contexts_find,
};

/* A context, and its read-only files. */

static int context_part_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	CLEANUP(context_leave_p) struct context *c = NULL;
	int r = context_of(at, &c, err);

	if (r == 0)
		st->mtime = c->stamp;
	return r;
}

/* The text of a context that the row with this id shows. */
static struct span part_of(const struct context *c, unsigned id)
{
	switch (id) {
	case ID_CONTEXT_INVOCATION:
		return span_of(c->invocation);
	case ID_CONTEXT_AGENT:
		return span_of(c->agent);
	case ID_CONTEXT_APP:
		return span_of(c->app_id);
	case ID_CONTEXT_USER:
		return span_of(c->user_id);
	case ID_CONTEXT_SESSION:
		return span_of(c->session_id);
	case ID_CONTEXT_CONTENT:
		return buf_span(&c->user_content);
	case ID_CONTEXT_CALL:
		return span_of(c->call_id);
	default: /* ID_CONTEXT_ARGS */
		return buf_span(&c->args);
	}
}

static int context_part_show(const struct place *at, struct buf *out, struct err *err)
{
	CLEANUP(context_leave_p) struct context *c = NULL;
	int r = context_of(at, &c, err);

	if (r < 0)
		return r;
	buf_span_add(out, part_of(c, at->type->id));
	buf_char(out, '\n');
	return buf_check(out, err);
}

/* actions.json: the actions that a program wants. */

static int actions_show(const struct place *at, struct buf *out, struct err *err)
{
	CLEANUP(context_leave_p) struct context *c = NULL;
	int r = context_of(at, &c, err);

	if (r == 0)
		r = context_actions(c, out);
	buf_char(out, '\n');
	return r < 0 ? r : buf_check(out, err);
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

/* Keep in the order of the manual page. Each kind has the rows of the kinds before it. */

#define TEXT_ROW(file, number, what)                                                               \
	{                                                                                          \
		.name = (file), .id = (number), .mode = S_IFREG | 0400, .help = (what),            \
		.stat = context_part_stat, .show = context_part_show                               \
	}

#define READONLY_ROWS                                                                              \
	TEXT_ROW("invocation_id", ID_CONTEXT_INVOCATION, "ADK's id of the turn"),                  \
		TEXT_ROW("agent_name", ID_CONTEXT_AGENT, "the agent whose turn it is"),            \
		TEXT_ROW("app_name", ID_CONTEXT_APP, "id of the app"),                             \
		TEXT_ROW("user_id", ID_CONTEXT_USER, "id of the user"),                            \
		TEXT_ROW("session_id", ID_CONTEXT_SESSION, "id of the session"),                   \
		TEXT_ROW("user_content.json", ID_CONTEXT_CONTENT, "the turn's message")

#define CALLBACK_ROWS                                                                              \
	{ .name = "state",                                                                         \
	  .id = ID_CONTEXT_STATE,                                                                  \
	  .mode = S_IFDIR | 0700,                                                                  \
	  .flags = NODE_FRESH,                                                                     \
	  .help = "all keys, temp: keys too, with the program's changes",                          \
	  .members = context_state_members,                                                        \
	  .stat = context_state_stat,                                                              \
	  .dir = &context_state_ops },                                                             \
		{ .name = "state.json",                                                            \
		  .id = ID_CONTEXT_STATE_JSON,                                                     \
		  .mode = S_IFREG | 0600,                                                          \
		  .flags = NODE_FRESH,                                                             \
		  .help = "all state values in one JSON object",                                   \
		  .stat = context_map_stat,                                                        \
		  .show = context_map_show,                                                        \
		  .file = &text_ops,                                                               \
		  .text = &context_map_rules },                                                    \
	{                                                                                          \
		.name = "artifacts", .id = ID_CONTEXT_ARTIFACTS, .mode = S_IFDIR | 0700,           \
		.flags = NODE_FRESH,                                                               \
		.help = "the session's artifacts, with those that the program wrote",              \
		.members = context_artifacts_members, .stat = context_artifacts_stat,              \
		.dir = &context_artifacts_ops                                                      \
	}

#define TOOL_ROWS                                                                                  \
	TEXT_ROW("function_call_id", ID_CONTEXT_CALL, "ADK's id of the call"),                     \
		TEXT_ROW("args.json", ID_CONTEXT_ARGS, "the arguments of the call"),               \
		{ .name = "actions.json",                                                          \
		  .id = ID_CONTEXT_ACTIONS,                                                        \
		  .mode = S_IFREG | 0600,                                                          \
		  .flags = NODE_FRESH,                                                             \
		  .help = "write transferToAgent, escalate, skipSummarization",                    \
		  .stat = context_text_stat,                                                       \
		  .show = actions_show,                                                            \
		  .file = &text_ops,                                                               \
		  .text = &actions_rules },                                                        \
	{                                                                                          \
		.name = "memory", .id = ID_CONTEXT_MEMORY, .mode = S_IFDIR | 0700,                 \
		.stat = context_part_stat, .entries = memory_entries_of_context                    \
	}

static const struct node_type memory_entries_of_context[] = {
	{ .name = "search",
	  .id = ID_CONTEXT_SEARCH,
	  .mode = S_IFDIR | 0700,
	  .help = "any name is a query to the user's memory",
	  .stat = context_part_stat,
	  .members = &memory_query,
	  .dir = &memory_query_ops },
	{ 0 },
};

static const struct node_type readonly_entries[] = { READONLY_ROWS, { 0 } };
static const struct node_type callback_entries[] = { READONLY_ROWS, CALLBACK_ROWS, { 0 } };
static const struct node_type tool_entries[] = { READONLY_ROWS, CALLBACK_ROWS, TOOL_ROWS, { 0 } };

#define CONTEXT_DIR(rows)                                                                          \
	{                                                                                          \
		.name = "<call>", .id = ID_OBJECT, .mode = S_IFDIR | 0700, .entries = (rows),      \
		.stat = context_part_stat                                                          \
	}

const struct node_type context_members[] = {
	[CONTEXT_READONLY] = CONTEXT_DIR(readonly_entries),
	[CONTEXT_CALLBACK] = CONTEXT_DIR(callback_entries),
	[CONTEXT_TOOL] = CONTEXT_DIR(tool_entries),
	{ 0 },
};
