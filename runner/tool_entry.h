/*
 * Entries of an agent's `tools`: {name, args}, where the name is a program in
 * the folder with its declaration beside it.
 */
#ifndef RUNNER_TOOL_ENTRY_H
#define RUNNER_TOOL_ENTRY_H

#include "runner/agent.h"
#include "runner/folder.h"
#include "runner/yaml.h"

struct tool_entry {
	/* set by the caller, borrowed */
	struct folder *folder;
	const struct yaml_tree *tree;
	size_t index;      /* in the list */
	struct tool *tool; /* to be filled in; all zero */
	struct err *err;

	const char *program; /* the name, once it was read */
};

/*
 * Read an entry with the files it names. -EINVAL: err has "FILE:LINE:
 * tools[INDEX].name: reason", or names the declaration; -ENOMEM. The tool may
 * be half filled then: tool_release() it in any case.
 */
MUST_CHECK int tool_entry_read(struct tool_entry *entry, const json_t *value);

/* Set the error of a member, "" for the entry as a whole. Returns -EINVAL. */
int tool_entry_fail(const struct tool_entry *entry, const char *member, const char *fmt, ...)
	PRINTF(3, 4);

#endif
