/*
 * Entries: {name, args}, as the file of an agent names tools, callbacks and schemas.
 *
 * Functions that return -EINVAL set the error of the file's loader.
 */
#ifndef RUNNER_AGENT_ENTRY_H
#define RUNNER_AGENT_ENTRY_H

#include "runner/agent/file.h"

struct entry {
	/* set by the caller, borrowed */
	struct agent_file *file;
	const char *path; /* of the entry in its file, such as "tools[2]" */
	size_t index;     /* of the entry in a list of tools */

	/* set by entry_read(), borrowed from the value */
	const char *name;
	const json_t *args; /* a mapping, or NULL */
};

/* Set name and args. 0; -EINVAL: err has "FILE:LINE: PATH.member: reason". */
MUST_CHECK int entry_read(struct entry *entry, const json_t *value);

/* Check that an entry has no args. 0; -EINVAL. */
MUST_CHECK int entry_refuse_args(const struct entry *entry);

/*
 * Fill in *out, which is all zero, with the program that an entry names and with the
 * args for the program. 0; -EINVAL: there is no such program, or the args are too
 * large; -ENOMEM. After an error *out may be half filled; its owner releases it.
 */
MUST_CHECK int entry_read_program(const struct entry *entry, struct program *out);

/*
 * Read the file that an entry names, which must be the schema of an object. *out is a
 * new reference. 0; -EINVAL: err has "FILE:LINE: member: reason" about the schema, or
 * about the entry when the file cannot be read; -ENOMEM.
 */
MUST_CHECK int entry_read_schema(const struct entry *entry, json_t **out);

/*
 * Make the text of a program's args, which are the value of a member. The caller frees
 * *out. 0; -EINVAL: the text is too long; -ENOMEM.
 */
MUST_CHECK int entry_dump_args(const struct entry *entry, const char *member, const json_t *args,
			       char **out);

/*
 * Find the program that the text of a member names. The caller frees *path. 0; -EINVAL:
 * there is no such program; -ENOMEM.
 */
MUST_CHECK int entry_find_program(const struct entry *entry, const char *member, const char *name,
				  char **path);

/* Set the error of a member; "" stands for the whole entry. Returns -EINVAL. */
int entry_fail(const struct entry *entry, const char *member, const char *fmt, ...) PRINTF(3, 4);

#endif
