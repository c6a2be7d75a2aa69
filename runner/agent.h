/*
 * Agents: what an app's folder says, as ADK Agent Config has it.
 *
 * FOLDER/root_agent.yaml is read with everything it names (tools and their
 * declarations) and checked as a whole: either the folder makes an agent or
 * the error says file, line and field. A loaded agent never changes; a turn
 * keeps the one it started with while newer ones are loaded.
 *
 * This version runs one LlmAgent with programs as tools. What ADK has beyond
 * that (sub-agents, workflow agents, callbacks, schemas of input and output,
 * built-in tools, MCP) is an error that says so, never silently left out.
 */
#ifndef RUNNER_AGENT_H
#define RUNNER_AGENT_H

#include "base/err.h"
#include "runner/settings.h"

#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AGENT_ROOT_FILE "root_agent.yaml"
#define AGENT_CLASS     "LlmAgent"
#define AGENT_NOT_YET   "is not supported by this version of adkfs"
#define AGENT_FILE_MAX  (1u << 20) /* bytes of a YAML or JSON file of a folder */
#define AGENT_TOOLS_MAX 128
#define AGENT_ARGS_MAX  65536 /* bytes of a tool's args, which lie in an environment */

/* A program with its declaration (NAME.json beside it). */
struct tool {
	char *name; /* as the model calls it */
	char *description;
	char *program;       /* absolute path, inside the folder with symlinks resolved */
	json_t *parameters;  /* JSON Schema of an object, or NULL */
	json_t *response;    /* JSON Schema, or NULL */
	json_t *declaration; /* the file's object, as it is */
	char *args;          /* JSON text of the entry's args for $ADK_ARGS, or NULL */
	bool long_running;
	bool confirm;
};

void tool_release(struct tool *tool);

/* An LlmAgent. Texts are NULL when the file does not have them. */
struct agent {
	char *name;
	char *description;
	char *model;
	char *instruction;
	char *static_instruction;
	char *output_key;
	bool no_history; /* include_contents: none */
	json_t *config;  /* generate_content_config in camelCase, or NULL */
	struct tool *tools;
	size_t tool_count;
	unsigned tool_timeout_ms; /* of each call; 0: the usual one */

	char *folder; /* absolute */
	struct settings *settings;
	json_t *warnings; /* list of strings, shown in agent.json */
	uint64_t mtime;   /* ns; the newest of the files read */
	json_t *files;    /* object: the files read, see folder.h */
	atomic_uint refs;
};

/*
 * Load a folder. *out is one reference for the caller.
 *
 * Returns 0; -ENOENT: no root_agent.yaml there; -EINVAL: it does not load,
 * err has "FILE:LINE: field: reason"; -ENOMEM; another -errno of reading.
 * Any thread.
 */
MUST_CHECK int agent_load(const char *folder, struct agent **out, struct err *err);

struct agent *agent_ref(struct agent *agent);
void agent_unref(struct agent *agent); /* NULL is fine */
DEFINE_CLEANUP(struct agent, agent_unref);

/* Whether a file of the folder changed since it was loaded (or one of them is gone). */
bool agent_is_stale(const struct agent *agent);

/* The loaded tree as the object that agent.json shows. NULL: out of memory. */
json_t *agent_show(const struct agent *agent);

const struct tool *agent_tool(const struct agent *agent, const char *name);

#endif
