/*
 * Views of sandboxes: the command lines that make bwrap show a part of the
 * machine. For the files of the sandbox; sandbox.h says what a program sees.
 *
 * A command line is a list of words, each with its NUL.
 */
#ifndef RUNNER_PROCESS_SANDBOX_VIEW_H
#define RUNNER_PROCESS_SANDBOX_VIEW_H

#include "base/buf.h"

struct process;

enum sandbox_view {
	VIEW_PROGRAM, /* little: for tools and callbacks */
	VIEW_SERVER,  /* the machine: for process.sees_all */
	VIEWS,
};

/* Whether bwrap is used, and how. */
struct sandbox {
	char *bwrap;             /* absolute; NULL: off */
	struct buf views[VIEWS]; /* the words that all programs of a view share */
	char reason[sizeof((struct err *)0)->text]; /* why it is off; "" when it is on */
};

/* The view that a job gets. */
enum sandbox_view sandbox_view_of(const struct process *p);

/* Append bwrap's path and the words that all programs of a view share. 0 or -ENOMEM. */
MUST_CHECK int sandbox_view_start(enum sandbox_view view, const char *bwrap, struct buf *words);

/* Append the words for one job, with its program and arguments last; words->failed: no memory. */
void sandbox_view_add(struct buf *words, const struct process *p);

#endif
