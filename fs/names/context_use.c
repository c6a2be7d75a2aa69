/*
 * The context of a file: see context.h.
 */
#include "fs/names/context.h"
#include "fs/tree/fs.h"
#include "runner/runner.h"

#include <errno.h>

int context_of(const struct place *at, struct context **out, struct err *err)
{
	struct context *c = context_use(runner_contexts(at->fs->runner), at->parent);

	if (!c)
		return err_set(err, -ESTALE, "the program that this directory was for has ended");
	*out = c;
	return 0;
}

struct ref context_scope_of(struct ref session, uint64_t number)
{
	return (struct ref){ session.app, session.user, number };
}

struct ref context_scope(const struct place *at)
{
	return context_scope_of(at->ref, at->parent);
}

int context_text_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	int r = at->type->show(at, &text, err);

	if (r < 0)
		return r;
	st->size = text.len;
	if (at->inode)
		st->mtime = inode_text_stamp(at->inode, buf_span(&text));
	return 0;
}

static int stop_at_any(void *arg, struct context *c)
{
	(void)arg;
	(void)c;
	return 1;
}

bool context_any_open(struct fs *fs, struct ref session, uint64_t turn)
{
	return context_list(runner_contexts(fs->runner), session, turn, 0, stop_at_any, NULL) == 1;
}
