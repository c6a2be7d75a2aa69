/*
 * Views of sandboxes: what bwrap is told to show. For sandbox.c; what each of
 * them has is in sandbox.h.
 *
 * A command line is made of words, each with its NUL behind it.
 */
#ifndef RUNNER_PROCESS_SANDBOX_VIEW_H
#define RUNNER_PROCESS_SANDBOX_VIEW_H

#include "base/buf.h"

struct process;

enum sandbox_view {
	VIEW_PROGRAM, /* little */
	VIEW_SERVER,  /* the machine, as process.sees_all */
	VIEWS,
};

struct sandbox {
	char *bwrap;             /* absolute; NULL: off */
	struct buf views[VIEWS]; /* the words that are the same for all programs of a view */
	char reason[sizeof((struct err *)0)->text];
};

enum sandbox_view sandbox_view_of(const struct process *p);

/* Append bwrap's path and the words that all programs of a view share. -ENOMEM. */
MUST_CHECK int sandbox_view_start(enum sandbox_view view, const char *bwrap, struct buf *words);

/* Append those of one program, the program and its arguments; words->failed: no memory. */
void sandbox_view_add(struct buf *words, const struct process *p);

#endif
