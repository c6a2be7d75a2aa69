/*
 * Entries: {name, args}, as agents' files name tools, callbacks and schemas.
 */
#ifndef RUNNER_AGENT_ENTRY_H
#define RUNNER_AGENT_ENTRY_H

#include "runner/agent/agent.h"
#include "runner/syntax/folder.h"
#include "runner/syntax/yaml.h"

#define ENTRY_PATH_MAX 192 /* of a field, as errors name it */

struct entry {
	/* set by the caller, borrowed */
	struct folder *folder;
	const struct yaml_tree *yaml;
	const char *path; /* of the entry in its file: "tools[2]" */
	struct err *err;

	/* once it was read; borrowed from the value */
	const char *name;
	const json_t *args; /* a mapping, or NULL */
};

/* Set name and args. -EINVAL: err has "FILE:LINE: PATH.member: reason". */
MUST_CHECK int entry_read(struct entry *entry, const json_t *value);

/* The args of an entry that takes none. -EINVAL: it has some. */
MUST_CHECK int entry_no_args(const struct entry *entry);

/*
 * Fill in the program that `name` is, with the args; all zero before.
 * -EINVAL: there is none, or the args are too large; -ENOMEM. The program may
 * be half filled then; its owner releases it in any case.
 */
MUST_CHECK int entry_program(const struct entry *entry, struct program *out);

/* JSON text of args for a program; `member` is where they are. As above. */
MUST_CHECK int entry_dump_args(const struct entry *entry, const char *member, const json_t *args,
			       char **out);

/* The path of a program that the text of a member names. As above. */
MUST_CHECK int entry_find_program(const struct entry *entry, const char *member, const char *name,
				  char **path);

/* Set the error of a member, "" for the entry as a whole. Returns -EINVAL. */
int entry_fail(const struct entry *entry, const char *member, const char *fmt, ...) PRINTF(3, 4);

/* Set the error of a member from the reason of another function; -ENOMEM stays -ENOMEM. */
int entry_refuse(const struct entry *entry, const char *member, int r, const struct err *reason);

#endif
