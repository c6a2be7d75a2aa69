/*
 * Files of agents, while a folder is being loaded.
 *
 * A loader reads one folder. Each file of an agent is an agent_file while it is read, which knows
 * the file that refers to it. An agent belongs to the tree as soon as its file was found.
 */
#ifndef RUNNER_AGENT_FILE_H
#define RUNNER_AGENT_FILE_H

#include "runner/agent/agent.h"
#include "runner/syntax/folder.h"
#include "runner/syntax/yaml.h"

#define AGENT_PATH_MAX 192 /* of a field, as errors name it */

struct agent_file;

/*
 * Load the agent that a field names, with all agents below it. path: the field. name: a file,
 * relative to the one that has the field. parent: NULL for the agent of an AgentTool. *out
 * belongs to the tree. -EINVAL: err has "FILE:LINE: field: reason"; -ENOMEM.
 */
typedef int agent_follow_fn(struct agent_file *file, const char *path, const char *name,
			    struct agent *parent, struct agent **out);

struct loader {
	struct agent_tree *tree;
	struct folder folder;
	const char *app;         /* whose agent it is; borrowed */
	json_t *names;           /* object: name of an agent -> its file */
	json_t *users;           /* object: absolute path of a file -> the file that refers to it */
	agent_follow_fn *follow; /* load.c: files refer to files */
	struct err *err;
};

struct agent_file {
	struct loader *ld;
	struct agent *agent;
	struct yaml_tree *yaml;
	const struct agent_file *above; /* refers to this one; NULL: this is the root */
	const char *path;               /* absolute, symlinks resolved */
	unsigned depth;                 /* of the root: 0 */
};

/* Follow {config_path: FILE}. */
MUST_CHECK int agent_file_refer(struct agent_file *file, const char *path, const json_t *reference,
				struct agent *parent, struct agent **out);

/* Set "FILE:LINE: path: reason" as the error and return -EINVAL. */
int agent_file_fail(struct agent_file *file, const char *path, const char *fmt, ...) PRINTF(3, 4);

/* Add "FILE:LINE: path: reason" to the warnings of the tree. -ENOMEM. */
MUST_CHECK int agent_file_warn(struct agent_file *file, const char *path, const char *fmt, ...)
	PRINTF(3, 4);

/* agent.c: an empty tree; an agent that is added to it. NULL: out of memory. */
struct agent_tree *agent_tree_new(void);
struct agent *agent_new(struct agent_tree *tree, struct agent *parent, const char *file);

#endif
