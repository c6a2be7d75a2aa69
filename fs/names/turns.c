/*
 * turns/<n>: a turn; turns/latest is a link to the newest turn.
 */
#include "fs/names/turns.h"

#include "fs/names/calls.h"
#include "fs/names/context.h"
#include "fs/names/stream.h"
#include "fs/tree/handle.h"
#include "fs/tree/ids.h"
#include "fs/tree/tree.h"
#include "fs/view/view.h"
#include "store/turn/text.h"
#include "store/turn/turn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int load_turn(const struct place *at, struct turn_info *info, struct err *err)
{
	return turn_stat(at->fs->store, at->ref, at->n, info, err);
}

/* Each file of a turn is as new as the turn's latest change. */
static int turn_part_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	struct turn_info info;
	int r = load_turn(at, &info, err);

	if (r < 0)
		return r;
	st->mtime = info.stamp;
	if (at->type->id == ID_TURN_OUTPUT)
		st->size = stream_output_size(at, &info);
	else if (at->type->id == ID_TURN_EVENTS)
		st->size = info.bytes;
	else if (at->type->id == ID_TURN_STREAM)
		st->size = stream_events_size(at, &info);
	return 0;
}

static int input_show(const struct place *at, struct buf *out, struct err *err)
{
	struct turn_info info;
	int r = load_turn(at, &info, err);

	if (r == 0)
		r = turn_input(at->fs->store, at->ref, &info, out, err);
	if (r == 0 && out->len && out->data[out->len - 1] != '\n')
		buf_char(out, '\n');
	return r;
}

const char *turns_word(enum turn_state state)
{
	static const char *const words[] = { [TURN_QUEUED] = "queued",
					     [TURN_RUNNING] = "running",
					     [TURN_DONE] = "done",
					     [TURN_FAILED] = "failed" };

	return words[state];
}

/* The line that the row with this id shows; "": none. */
static const char *line_of(const struct turn_info *info, unsigned id)
{
	switch (id) {
	case ID_TURN_STATUS:
		return turns_word(info->state);
	case ID_TURN_ERROR:
		return info->error;
	case ID_TURN_INVOCATION:
		return info->invocation;
	default: /* ID_TURN_AGENT */
		return info->agent;
	}
}

static int turn_line_show(const struct place *at, struct buf *out, struct err *err)
{
	struct turn_info info;
	int r = load_turn(at, &info, err);
	const char *line = r < 0 ? "" : line_of(&info, at->type->id);

	if (*line)
		buf_printf(out, "%s\n", line);
	return r;
}

static int turn_events_show(const struct place *at, struct buf *out, struct err *err)
{
	struct turn_info info;
	int r = load_turn(at, &info, err);

	return r < 0 ? r : turn_events(at->fs->store, at->ref, &info, out, err);
}

static const struct node_type turn_entries[] = {
	{ .name = "input",
	  .id = ID_TURN_INPUT,
	  .mode = S_IFREG | 0400,
	  .help = "the message",
	  .stat = turn_part_stat,
	  .show = input_show },
	{ .name = "output",
	  .id = ID_TURN_OUTPUT,
	  .mode = S_IFREG | 0400,
	  .flags = NODE_STREAM,
	  .news = NEWS_PROGRESS,
	  .help = "the text of the answer; the read ends with the turn",
	  .stat = turn_part_stat,
	  .file = &turn_output_ops },
	{ .name = "status",
	  .id = ID_TURN_STATUS,
	  .mode = S_IFREG | 0400,
	  .help = "queued, running, done or failed",
	  .stat = turn_part_stat,
	  .show = turn_line_show },
	{ .name = "error",
	  .id = ID_TURN_ERROR,
	  .mode = S_IFREG | 0400,
	  .help = "why the turn failed",
	  .stat = turn_part_stat,
	  .show = turn_line_show },
	{ .name = "events.jsonl",
	  .id = ID_TURN_EVENTS,
	  .mode = S_IFREG | 0400,
	  .help = "the turn's lines of the log",
	  .stat = turn_part_stat,
	  .show = turn_events_show },
	{ .name = "stream.jsonl",
	  .id = ID_TURN_STREAM,
	  .mode = S_IFREG | 0400,
	  .flags = NODE_STREAM,
	  .news = NEWS_PROGRESS,
	  .help = "events while they come, partial ones too; the read ends with the turn",
	  .stat = turn_part_stat,
	  .file = &turn_stream_ops },
	{ .name = "invocation_id",
	  .id = ID_TURN_INVOCATION,
	  .mode = S_IFREG | 0400,
	  .help = "ADK's id of the turn",
	  .stat = turn_part_stat,
	  .show = turn_line_show },
	{ .name = "agent",
	  .id = ID_TURN_AGENT,
	  .mode = S_IFREG | 0400,
	  .help = "the agent that answered",
	  .stat = turn_part_stat,
	  .show = turn_line_show },
	{ .name = "usage.json",
	  .id = ID_TURN_USAGE,
	  .mode = S_IFREG | 0400,
	  .help = "tokens, by model",
	  .stat = turn_part_stat,
	  .show = usage_turn_show },
	{ .name = "calls",
	  .id = ID_TURN_CALLS,
	  .mode = S_IFDIR | 0700,
	  .help = "one directory for each call of a tool",
	  .stat = turn_part_stat,
	  .members = &call_dir,
	  .dir = &calls_dir_ops },
	{ .name = "context",
	  .id = ID_TURN_CONTEXT,
	  .mode = S_IFDIR | 0700,
	  .flags = NODE_LATE,
	  .help = "while programs run: what each of them sees and may change",
	  .members = context_members,
	  .present = contexts_present,
	  .stat = contexts_stat,
	  .dir = &contexts_ops },
	{ 0 },
};

/* The list of a turn's directory also changes when `context` comes and goes. */
static int turn_dir_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	int r = turn_part_stat(at, st, err);

	st->mtime = MAX(st->mtime, contexts_stamp(at));
	return r;
}

const struct node_type turn_dir = {
	.name = "<n>",
	.id = ID_OBJECT,
	.mode = S_IFDIR | 0700,
	.entries = turn_entries,
	.stat = turn_dir_stat,
};

static int latest_present(const struct place *at)
{
	struct scope_info info;
	int r = scope_stat(at->fs->store, at->ref, &info, NULL);

	return r < 0 ? r : info.turns ? 0 : -ENOENT;
}

static int latest_link(const struct place *at, struct buf *out, struct err *err)
{
	struct scope_info info;
	int r = scope_stat(at->fs->store, at->ref, &info, err);

	if (r == 0)
		buf_printf(out, "%llu", (unsigned long long)info.turns);
	return r;
}

int turns_dir_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	struct scope_info info;
	int r = scope_stat(at->fs->store, at->ref, &info, err);

	if (r == 0)
		st->mtime = MAX(info.turns_stamp, at->fs->mounted);
	return r;
}

const struct node_type turns_entries[] = {
	{ .name = "latest",
	  .id = ID_TURNS_LATEST,
	  .mode = S_IFLNK | 0777,
	  .news = NEWS_TURN_NAMES,
	  .present = latest_present,
	  .stat = turns_dir_stat,
	  .link = latest_link },
	{ 0 },
};

static void turn_place(const struct place *dir, const struct turn_info *info, struct place *child)
{
	*child = place_child(dir, dir->type->members);
	child->item = info->number;
	child->n = info->n;
}

static int turns_dir_find(const struct place *dir, const char *name, struct place *child,
			  struct buf *text, struct err *err)
{
	struct turn_info info;
	char again[32];
	uint64_t n = strtoull(name, NULL, 10);
	int r;

	(void)text;
	(void)snprintf(again, sizeof again, "%llu", (unsigned long long)n);
	if (!n || strcmp(name, again) != 0)
		return err_set(err, -ENOENT, "a turn's name is its number, not %s", name);
	r = turn_stat(dir->fs->store, dir->ref, n, &info, err);
	if (r == 0)
		turn_place(dir, &info, child);
	return r;
}

static int list_turn(void *arg, const struct turn_info *info)
{
	struct lister *l = arg;
	struct node_stat st = { .mtime = info->stamp };
	struct place child;
	char name[32];

	(void)snprintf(name, sizeof name, "%llu", (unsigned long long)info->n);
	turn_place(l->dir, info, &child);
	st.mtime = MAX(st.mtime, contexts_stamp(&child));
	return lister_emit(l, name, &child, info->n, &st);
}

static int turns_dir_list(const struct place *dir, uint64_t after, struct lister *l,
			  struct err *err)
{
	return turn_list(dir->fs->store, dir->ref, after, list_turn, l, err);
}

const struct dir_ops turns_dir_ops = {
	.list = turns_dir_list,
	.find = turns_dir_find,
};
