/*
 * Files of agents, while a folder is being loaded.
 *
 * A loader reads one folder. Each file that describes an agent is an agent_file while
 * it is read. An agent_file knows the file that refers to it. Its agent belongs to the
 * tree as soon as the file was found.
 */
#ifndef RUNNER_AGENT_FILE_H
#define RUNNER_AGENT_FILE_H

#include "runner/agent/agent.h"
#include "runner/syntax/folder.h"
#include "runner/syntax/yaml.h"

#define AGENT_PATH_MAX 192 /* bytes of a field's path in errors, with its NUL */

struct agent_file;

/*
 * Load the agent that a field names, with all agents below it.
 *
 * @path	the path of the field
 * @name	a file, relative to the file that has the field
 * @parent	NULL for the agent of an AgentTool
 * @out		belongs to the tree
 * Returns 0; -EINVAL: err has "FILE:LINE: field: reason"; -ENOMEM.
 */
typedef int agent_follow_fn(struct agent_file *file, const char *path, const char *name,
			    struct agent *parent, struct agent **out);

struct loader {
	struct agent_tree *tree;
	struct folder folder;
	const char *app;         /* the app whose agent is loaded; borrowed */
	json_t *names;           /* object: name of an agent -> its file */
	json_t *users;           /* object: absolute path of a file -> the file that refers to it */
	agent_follow_fn *follow; /* in load.c, since files refer to files */
	struct err *err;
};

struct agent_file {
	struct loader *ld;
	struct agent *agent;
	struct yaml_tree *yaml;
	const struct agent_file *above; /* refers to this file; NULL: this is the root */
	const char *path;               /* absolute, symlinks resolved */
	unsigned depth;                 /* 0 for the root */
};

/* Follow {config_path: FILE}, the value of a field. Returns as agent_follow_fn. */
MUST_CHECK int agent_file_refer(struct agent_file *file, const char *path, const json_t *reference,
				struct agent *parent, struct agent **out);

/* Set "FILE:LINE: path: reason" as the error of the loader. Returns -EINVAL. */
int agent_file_fail(struct agent_file *file, const char *path, const char *fmt, ...) PRINTF(3, 4);

/* Add "FILE:LINE: path: reason" to the warnings of the tree. 0 or -ENOMEM. */
MUST_CHECK int agent_file_warn(struct agent_file *file, const char *path, const char *fmt, ...)
	PRINTF(3, 4);

/*
 * In review.c: ask the provider of the agent's model what it would refuse, and add that
 * to the warnings of the tree. 0 or -ENOMEM.
 */
MUST_CHECK int agent_review(struct agent_file *file);

/* In agent.c: make an empty tree. The caller has its only reference. NULL: out of memory. */
struct agent_tree *agent_tree_new(void);

/* In agent.c: add an agent to a tree, which has room for it. NULL: out of memory. */
struct agent *agent_new(struct agent_tree *tree, struct agent *parent, const char *file);

#endif
