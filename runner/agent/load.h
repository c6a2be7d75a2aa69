/*
 * Loading agents: what the files that do it share.
 *
 * A loader reads one folder. Each file of an agent is an agent_file while it
 * is read, which knows the file that refers to it. The agents belong to the
 * tree as soon as their file was found.
 */
#ifndef RUNNER_AGENT_LOAD_H
#define RUNNER_AGENT_LOAD_H

#include "runner/agent/agent.h"
#include "runner/syntax/folder.h"
#include "runner/syntax/yaml.h"

#define AGENT_PATH_MAX 192 /* of a field, as errors name it */

struct loader {
	struct agent_tree *tree;
	struct folder folder;
	const char *app; /* whose agent it is; borrowed */
	json_t *names;   /* object: name of an agent -> its file */
	json_t *users; /* object: absolute path of an agent's file -> the file that refers to it */
	struct err *err;
};

struct agent_file {
	struct loader *ld;
	struct agent *agent;
	struct yaml_tree *yaml;
	const struct agent_file *above; /* it refers to this one; NULL: this is the root */
	const char *path;               /* absolute, symlinks resolved */
	unsigned depth;                 /* of the root: 0 */
};

/* agent.c: an empty tree; an agent that is added to it. NULL: out of memory. */
struct agent_tree *agent_tree_new(void);
struct agent *agent_new(struct agent_tree *tree, struct agent *parent, const char *file);

/*
 * load.c: load the agent that a field names, with all below it. `name`
 * is a file's, relative to the one that has the field; `path` is the field.
 * parent: NULL for the agent of an AgentTool. *out belongs to the tree.
 * -EINVAL: err has "FILE:LINE: field: reason"; -ENOMEM.
 */
MUST_CHECK int agent_file_follow(struct agent_file *file, const char *path, const char *name,
				 struct agent *parent, struct agent **out);

/* The same for {config_path: FILE}. */
MUST_CHECK int agent_file_refer(struct agent_file *file, const char *path, const json_t *reference,
				struct agent *parent, struct agent **out);

/* Set "FILE:LINE: path: reason" as the error and return -EINVAL. */
int agent_file_fail(struct agent_file *file, const char *path, const char *fmt, ...) PRINTF(3, 4);

/* The same as one of the tree's warnings. -ENOMEM. */
MUST_CHECK int agent_file_warn(struct agent_file *file, const char *path, const char *fmt, ...)
	PRINTF(3, 4);

/* fields.c: take all fields of a file; give those of an agent as an object. */
MUST_CHECK int agent_fields_take(struct agent_file *file);
json_t *agent_fields_show(const struct agent *agent); /* NULL: out of memory */

/* review.c: warn of what the agent's model will not take as it is written. -ENOMEM. */
MUST_CHECK int agent_review(struct agent_file *file);

/* show.c: the values of fields that hold programs. NULL: out of memory. */
json_t *agent_show_path(const struct agent *agent, const struct program *program);
json_t *agent_show_tools(const struct agent *agent);
json_t *agent_show_callbacks(const struct agent *agent, enum callback_kind kind);

#endif
