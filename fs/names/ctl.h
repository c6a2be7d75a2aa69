/*
 * ctl: a file that accepts verbs, one in each line.
 */
#ifndef FS_NAMES_CTL_H
#define FS_NAMES_CTL_H

#include "fs/tree/node.h"

struct ctl_command; /* a line, split into words */

struct ctl_verb {
	const char *name;
	const char *arguments; /* for errors */
	size_t least;          /* fewest arguments */
	size_t most;           /* most arguments */
	/* Run the verb for the object of h. Returns 0 or the errno of the writer's write(2). */
	int (*run)(struct handle *h, const struct ctl_command *c, struct err *err);
};

/* The operations for a row that has a table of verbs in .verbs. */
extern const struct file_ops ctl_ops;

/* The verbs of a session; a NULL name ends the table. */
extern const struct ctl_verb ctl_session_verbs[];

#endif
