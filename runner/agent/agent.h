/*
 * Agents: an app's folder in the form of ADK Agent Config.
 *
 * FOLDER/root_agent.yaml is read with everything it names: other agents, tools and their
 * declarations, schemas, callbacks. The whole folder is checked. The
 * result is a tree of agents, or an error that names file, line and field. A loaded tree never
 * changes: a turn keeps its tree while newer ones are loaded.
 */
#ifndef RUNNER_AGENT_AGENT_H
#define RUNNER_AGENT_AGENT_H

#include "base/err.h"
#include "runner/mcp/mcp.h"
#include "runner/settings/settings.h"
#include "store/json/content.h"

#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AGENT_ROOT_FILE     "root_agent.yaml"
#define AGENT_FILE_MAX      (1u << 20) /* bytes of a YAML or JSON file of a folder */
#define AGENT_TOOLS_MAX     128        /* entries of one agent */
#define AGENT_TREE_MAX      256        /* agents of one folder */
#define AGENT_DEPTH_MAX     32
#define AGENT_CALLBACKS_MAX 64    /* of one kind of an agent */
#define AGENT_ARGS_MAX      65536 /* bytes of a program's args, which lie in an environment */

/* A program that the runner starts. */
struct program {
	char *path;   /* absolute, inside the folder with symlinks resolved */
	char *args;   /* JSON text of the entry's args for $ADK_ARGS, or NULL */
	bool network; /* its declaration asks for the network */
};

enum tool_kind {
	TOOL_PROGRAM,
	TOOL_AGENT, /* AgentTool */
	TOOL_MCP,   /* a tool of an MCP server; made for one step */
	TOOL_TRANSFER,
	TOOL_EXIT_LOOP,
	TOOL_LOAD_MEMORY,
	TOOL_PRELOAD_MEMORY, /* works by itself; models do not see the tool */
	TOOL_LOAD_ARTIFACTS,
	TOOL_MODEL_RESPONSE, /* set_model_response */
};

/* A tool that the model may call. */
struct tool {
	enum tool_kind kind;
	char *name; /* as the model calls it */
	char *description;
	json_t *parameters;  /* JSON Schema of an object, or NULL */
	json_t *response;    /* JSON Schema, or NULL */
	json_t *declaration; /* the object in the declaration file, unchanged */
	struct program program;
	bool long_running;
	bool confirm;

	struct agent *agent; /* TOOL_AGENT: an agent of the same tree */
	bool skip_summarization;

	struct mcp_server *server; /* TOOL_MCP: the server of the tool, borrowed */
	char *server_name;         /* the name that the server gives the tool */
};

/* Free what a tool owns, and make it all zero. */
void tool_release(struct tool *tool);

enum toolset_kind { TOOLSET_MCP, TOOLSET_PROGRAM };

/* An entry of `tools` that lists its tools at each step, which may differ each time. */
struct toolset {
	enum toolset_kind kind;
	size_t index; /* of the entry in `tools`, which places its tools among the others */
	struct mcp_params *mcp;
	struct mcp_server *server; /* owned; connects at the first call */
	struct program program;
};

enum agent_kind {
	AGENT_LLM,
	AGENT_SEQUENTIAL,
	AGENT_PARALLEL,
	AGENT_LOOP,
	AGENT_PROGRAM, /* a program; program.args has the fields that adkfs does not know */
	AGENT_KINDS,
};

/* The name in agent_class; "program" for AGENT_PROGRAM, which has a path there. */
const char *agent_kind_name(enum agent_kind kind);

enum callback_kind {
	BEFORE_AGENT,
	AFTER_AGENT,
	BEFORE_MODEL,
	AFTER_MODEL,
	BEFORE_TOOL,
	AFTER_TOOL,
	CALLBACK_KINDS,
};

struct callbacks {
	struct program *list;
	size_t count;
};

/* A text is NULL when the file does not have it. */
struct agent {
	struct agent_tree *tree;
	struct agent *parent; /* NULL: the root, or the agent of an AgentTool */
	struct agent **subs;
	size_t sub_count;

	enum agent_kind kind;
	char *file; /* relative to the folder */
	char *name;
	char *description;
	struct callbacks callbacks[CALLBACK_KINDS];
	unsigned max_iterations; /* AGENT_LOOP; 0: no limit */
	struct program program;  /* AGENT_PROGRAM */

	/* AGENT_LLM */
	char *model; /* never NULL: the agent's own, or that of an agent above */
	char *instruction;
	struct content *static_instruction; /* NULL: none */
	char *output_key;
	bool no_history;       /* include_contents: none */
	bool no_parent;        /* disallow_transfer_to_parent */
	bool no_peers;         /* disallow_transfer_to_peers */
	json_t *input_schema;  /* JSON Schema, or NULL */
	json_t *output_schema; /* JSON Schema, or NULL */
	json_t *config;        /* generate_content_config in camelCase, or NULL */
	struct tool *tools;    /* of entries that are one tool each, in their order */
	size_t *tool_index;    /* the index of each tool's entry in `tools` of the file */
	size_t tool_count;
	struct toolset *toolsets;
	size_t toolset_count;
};

struct agent_tree {
	struct agent *root;
	struct agent **agents; /* all agents, even those of AgentTools; owned */
	size_t count;
	char *folder; /* absolute */
	struct settings *settings;
	unsigned tool_timeout_ms;     /* time limit of each program; 0: PROCESS_TIMEOUT_MS */
	unsigned compaction_interval; /* turns between compactions; 0: none by itself */
	unsigned compaction_overlap;
	json_t *warnings; /* list of strings, from the files; see agent_warnings() */
	uint64_t mtime;   /* ns; of the newest file that was read */
	json_t *files;    /* object: the files that were read, see syntax/folder.h */
	atomic_uint refs;
};

/*
 * Load a folder. Its last name is the app's name in the settings file. *out is one
 * reference for the caller.
 *
 * Returns 0; -ENOENT: the folder has no root_agent.yaml; -EINVAL: a file is wrong, err
 * has "FILE:LINE: field: reason"; -ENOMEM; another -errno of reading. Any thread.
 */
MUST_CHECK int agent_load(const char *folder, struct agent_tree **out, struct err *err);

/*
 * Call fn for each MCP server of the tree. A result other than 0 ends the loop and is
 * returned.
 */
typedef int agent_server_fn(void *arg, struct mcp_server *server);
int agent_each_server(const struct agent_tree *tree, agent_server_fn *fn, void *arg);

/* Set how the MCP servers start, before the tree is used; see mcp_server_enclose(). */
void agent_enclose(struct agent_tree *tree, const struct sandbox *sandbox, const char *agents);

struct agent_tree *agent_tree_ref(struct agent_tree *tree); /* one more reference */
void agent_tree_unref(struct agent_tree *tree);             /* NULL is fine */
DEFINE_CLEANUP(struct agent_tree, agent_tree_unref);

/*
 * Whether the tree must be loaded again: one of its files changed or is gone, or the
 * settings file of the daemon changed.
 */
bool agent_is_stale(const struct agent_tree *tree);

/* Make the object that agent.json shows for a tree. NULL: out of memory. */
json_t *agent_show(const struct agent_tree *tree);

/*
 * Make a list of the warnings about a tree, each a sentence: those from its files, and
 * those about the latest lists of its MCP servers. No server is asked. NULL: out of
 * memory. Any thread.
 */
json_t *agent_warnings(const struct agent_tree *tree);

/* Find an agent by name: `from` itself, or an agent below it. NULL: no such agent. */
struct agent *agent_find(struct agent *from, const char *name);

/* Find a tool of an agent by name; toolsets are not searched. NULL: no such tool. */
const struct tool *agent_tool(const struct agent *agent, const char *name);

#endif
