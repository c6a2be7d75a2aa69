/*
 * turns/<n>/calls/<id>/: a call of a tool.
 *
 * Name and arguments are present from the start of the call. Response, standard
 * error and duration are empty until the call has ended.
 */
#include "fs/names/calls.h"

#include "fs/tree/fs.h"
#include "fs/tree/ids.h"
#include "fs/tree/tree.h"
#include "store/turn/call.h"

#include <errno.h>

static int load_call(const struct place *at, struct call_info *info, struct err *err)
{
	return call_stat(at->fs->store, at->ref, at->n, at->parent, info, err);
}

static int call_part_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	struct call_info info;
	int r = load_call(at, &info, err);

	if (r < 0)
		return r;
	st->mtime = info.stamp;
	if (at->type->id == ID_CALL_STDERR)
		st->size = info.stderr_size;
	return 0;
}

static int tool_show(const struct place *at, struct buf *out, struct err *err)
{
	CLEANUP(part_release) struct part part = { 0 };
	struct call_info info;
	int r = load_call(at, &info, err);

	if (r == 0)
		r = call_part(at->fs->store, at->ref, &info.said, &part, err);
	if (r == 0)
		buf_printf(out, "%s\n", part.name);
	return r;
}

/* args.json and response.json: a JSON object, which may not be stored yet. */
static int object_show(const struct place *at, struct buf *out, struct err *err)
{
	CLEANUP(part_release) struct part part = { 0 };
	struct call_info info;
	int r = load_call(at, &info, err);

	if (r < 0)
		return r;
	r = call_part(at->fs->store, at->ref,
		      at->type->id == ID_CALL_ARGS ? &info.said : &info.answer, &part, err);
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	buf_text(out, part.json ? part.json : "{}");
	buf_char(out, '\n');
	return 0;
}

static int stderr_show(const struct place *at, struct buf *out, struct err *err)
{
	struct call_info info;
	int r = load_call(at, &info, err);

	return r < 0 ? r : call_stderr(at->fs->store, at->ref, &info, out, err);
}

static int duration_show(const struct place *at, struct buf *out, struct err *err)
{
	struct call_info info;
	int r = load_call(at, &info, err);

	if (r == 0 && info.ended)
		buf_printf(out, "%lld\n", (long long)(info.ended - info.started + 500) / 1000);
	return r;
}

static const struct node_type call_entries[] = {
	{ .name = "tool",
	  .id = ID_CALL_TOOL,
	  .mode = S_IFREG | 0400,
	  .help = "the name of the tool",
	  .stat = call_part_stat,
	  .show = tool_show },
	{ .name = "args.json",
	  .id = ID_CALL_ARGS,
	  .mode = S_IFREG | 0400,
	  .help = "the arguments of the call",
	  .stat = call_part_stat,
	  .show = object_show },
	{ .name = "response.json",
	  .id = ID_CALL_RESPONSE,
	  .mode = S_IFREG | 0400,
	  .help = "the tool's response; empty until the call has ended",
	  .stat = call_part_stat,
	  .show = object_show },
	{ .name = "stderr",
	  .id = ID_CALL_STDERR,
	  .mode = S_IFREG | 0400,
	  .help = "the last 64 KiB that the program wrote to standard error",
	  .stat = call_part_stat,
	  .show = stderr_show },
	{ .name = "duration_ms",
	  .id = ID_CALL_DURATION,
	  .mode = S_IFREG | 0400,
	  .help = "the duration in milliseconds; empty while the call runs",
	  .stat = call_part_stat,
	  .show = duration_show },
	{ 0 },
};

const struct node_type call_dir = {
	.name = "<id>",
	.id = ID_OBJECT,
	.mode = S_IFDIR | 0700,
	.entries = call_entries,
	.stat = call_part_stat,
};

static void call_place(const struct place *dir, const struct call_info *info, struct place *child)
{
	*child = place_child(dir, dir->type->members);
	child->item = info->number;
	child->parent = info->seq;
}

static int calls_dir_find(const struct place *dir, const char *name, struct place *child,
			  struct buf *text, struct err *err)
{
	struct call_info info;
	int r = call_find(dir->fs->store, dir->ref, dir->n, name, &info, err);

	(void)text;
	if (r == 0)
		call_place(dir, &info, child);
	return r;
}

static int list_call(void *arg, const struct call_info *info)
{
	struct lister *l = arg;
	struct node_stat st = { .mtime = info->stamp };
	struct place child;

	if (info->kind != CALL_TOOL)
		return 0;
	call_place(l->dir, info, &child);
	return lister_emit(l, info->file_name, &child, info->seq, &st);
}

static int calls_dir_list(const struct place *dir, uint64_t after, struct lister *l,
			  struct err *err)
{
	return call_list(dir->fs->store, dir->ref, (struct call_place){ dir->n, after }, list_call,
			 l, err);
}

const struct dir_ops calls_dir_ops = {
	.list = calls_dir_list,
	.find = calls_dir_find,
};
