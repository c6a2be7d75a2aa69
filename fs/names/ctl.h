/*
 * ctl: verbs for a session, one a line.
 */
#ifndef FS_NAMES_CTL_H
#define FS_NAMES_CTL_H

#include "fs/tree/node.h"

struct ctl_command; /* a line, taken apart */

struct ctl_verb {
	const char *name;
	const char *arguments; /* for errors */
	size_t least;          /* how many there are */
	size_t most;
	int (*run)(struct handle *h, const struct ctl_command *c, struct err *err);
};

/* For a row that has a table of verbs in .verbs. */
extern const struct file_ops ctl_ops;

/* The verbs of a session; a name of NULL ends them. */
extern const struct ctl_verb ctl_session_verbs[];

#endif
