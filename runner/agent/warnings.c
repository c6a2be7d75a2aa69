/*
 * Warnings about agents, for agent.json and check-agent. Each source is a row of the table below.
 */
#include "runner/agent/agent.h"

#include <errno.h>

/* Add a sentence once: agents may share what it is about. */
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

/* texts: NULL when out of memory. */
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

static int add_of_files(const struct agent_tree *tree, json_t *list)
{
	return add_warnings(list, tree->warnings);
}

static int add_of_server(void *arg, struct mcp_server *server)
{
	json_auto_t *texts = mcp_warnings(server);

	return add_warnings(arg, texts);
}

static int add_of_servers(const struct agent_tree *tree, json_t *list)
{
	return agent_each_server(tree, add_of_server, list);
}

/* Each appends what is known by now. 0 or -ENOMEM. */
static int (*const sources[])(const struct agent_tree *tree, json_t *list) = {
	add_of_files,
	add_of_servers,
};

json_t *agent_warnings(const struct agent_tree *tree)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; list && i < ARRAY_SIZE(sources); i++) {
		if (sources[i](tree, list) < 0) {
			json_decref(list);
			list = NULL;
		}
	}
	return list;
}
