/*
 * Agents: see agent.h. A tree is loaded by load.c and fields.c and shown by fields.c;
 * this file makes, searches and frees it.
 */
#include "runner/agent/agent.h"

#include "runner/agent/file.h"
#include "runner/syntax/folder.h"

#include <errno.h>
#include <stdlib.h>

static void program_release(struct program *program)
{
	free(program->path);
	free(program->args);
	*program = (struct program){ 0 };
}

void tool_release(struct tool *tool)
{
	free(tool->name);
	free(tool->description);
	free(tool->server_name);
	program_release(&tool->program);
	json_decref(tool->parameters);
	json_decref(tool->response);
	json_decref(tool->declaration);
	*tool = (struct tool){ 0 };
}

static void toolset_release(struct toolset *set)
{
	mcp_server_free(set->server);
	mcp_params_free(set->mcp);
	program_release(&set->program);
}

static void callbacks_release(struct callbacks *callbacks)
{
	size_t i;

	for (i = 0; i < callbacks->count; i++)
		program_release(&callbacks->list[i]);
	free(callbacks->list);
}

static void free_texts(struct agent *agent)
{
	free(agent->file);
	free(agent->name);
	free(agent->description);
	free(agent->model);
	free(agent->instruction);
	free(agent->output_key);
}

static void agent_free(struct agent *agent)
{
	size_t i;

	for (i = 0; i < CALLBACK_KINDS; i++)
		callbacks_release(&agent->callbacks[i]);
	for (i = 0; i < agent->tool_count; i++)
		tool_release(&agent->tools[i]);
	for (i = 0; i < agent->toolset_count; i++)
		toolset_release(&agent->toolsets[i]);
	free(agent->tools);
	free(agent->tool_index);
	free(agent->toolsets);
	free(agent->subs);
	free_texts(agent);
	program_release(&agent->program);
	content_free(agent->static_instruction);
	json_decref(agent->input_schema);
	json_decref(agent->output_schema);
	json_decref(agent->config);
	free(agent);
}

static void tree_free(struct agent_tree *tree)
{
	size_t i;

	for (i = 0; i < tree->count; i++)
		agent_free(tree->agents[i]);
	free(tree->agents);
	free(tree->folder);
	json_decref(tree->warnings);
	json_decref(tree->files);
	settings_free(tree->settings);
	free(tree);
}

struct agent_tree *agent_tree_new(void)
{
	struct agent_tree *tree = calloc(1, sizeof *tree);

	if (!tree)
		return NULL;
	tree->refs = 1;
	tree->agents = calloc(AGENT_TREE_MAX, sizeof(struct agent *));
	tree->warnings = json_array();
	if (!tree->agents || !tree->warnings) {
		tree_free(tree);
		return NULL;
	}
	return tree;
}

struct agent *agent_new(struct agent_tree *tree, struct agent *parent, const char *file)
{
	struct agent *agent = calloc(1, sizeof *agent);

	if (!agent)
		return NULL;
	agent->tree = tree;
	agent->parent = parent;
	agent->file = strdup(file);
	if (!agent->file) {
		free(agent);
		return NULL;
	}
	tree->agents[tree->count++] = agent;
	return agent;
}

struct agent_tree *agent_tree_ref(struct agent_tree *tree)
{
	atomic_fetch_add(&tree->refs, 1);
	return tree;
}

void agent_tree_unref(struct agent_tree *tree)
{
	if (tree && atomic_fetch_sub(&tree->refs, 1) == 1)
		tree_free(tree);
}

int agent_each_server(const struct agent_tree *tree, agent_server_fn *fn, void *arg)
{
	size_t i;
	size_t k;
	int r = 0;

	for (i = 0; i < tree->count; i++) {
		const struct agent *agent = tree->agents[i];

		for (k = 0; k < agent->toolset_count && r == 0; k++) {
			if (agent->toolsets[k].server)
				r = fn(arg, agent->toolsets[k].server);
		}
	}
	return r;
}

struct enclosure {
	const struct sandbox *sandbox;
	const char *agents;
};

static int enclose_server(void *arg, struct mcp_server *server)
{
	const struct enclosure *e = arg;

	mcp_server_enclose(server, e->sandbox, e->agents);
	return 0;
}

void agent_enclose(struct agent_tree *tree, const struct sandbox *sandbox, const char *agents)
{
	struct enclosure e = { sandbox, agents };

	(void)agent_each_server(tree, enclose_server, &e); /* enclose_server() cannot fail */
}

bool agent_is_stale(const struct agent_tree *tree)
{
	return folder_changed(tree->folder, tree->files) || settings_are_stale(tree->settings);
}

struct agent *agent_find(struct agent *from, const char *name)
{
	struct agent *found = strcmp(from->name, name) ? NULL : from;
	size_t i;

	for (i = 0; i < from->sub_count && !found; i++)
		found = agent_find(from->subs[i], name);
	return found;
}

const struct tool *agent_tool(const struct agent *agent, const char *name)
{
	size_t i;

	for (i = 0; i < agent->tool_count; i++) {
		if (!strcmp(agent->tools[i].name, name))
			return &agent->tools[i];
	}
	return NULL;
}

/* Warnings */

/* Append a sentence, unless it is there: agents may share what the sentence is about. */
static int add_warning(json_t *list, json_t *text)
{
	const json_t *said;
	size_t i;

	json_array_foreach(list, i, said)
	{
		if (json_equal(said, text))
			return 0;
	}
	return json_array_append(list, text) ? -ENOMEM : 0;
}

/* Append sentences; NULL: there was no memory for them. */
static int add_warnings(json_t *list, const json_t *texts)
{
	json_t *text;
	size_t i;
	int r = texts ? 0 : -ENOMEM;

	json_array_foreach(texts, i, text)
	{
		if (r == 0)
			r = add_warning(list, text);
	}
	return r;
}

static int add_of_server(void *arg, struct mcp_server *server)
{
	json_auto_t *texts = mcp_warnings(server);

	return add_warnings(arg, texts);
}

json_t *agent_warnings(const struct agent_tree *tree)
{
	json_auto_t *list = json_array();

	if (!list || add_warnings(list, tree->warnings) < 0 ||
	    agent_each_server(tree, add_of_server, list) < 0)
		return NULL;
	return STEAL(&list);
}
