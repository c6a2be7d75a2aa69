/*
 * Built-in tools: see builtin.h. The tools work in runner/turn; this file has their
 * declarations for models.
 */
#include "runner/agent/builtin.h"

#include <errno.h>
#include <stdlib.h>

static const struct builtin {
	enum tool_kind kind;
	const char *name;
	const char *description;
	const char *parameters; /* JSON; NULL: none, or the caller sets them */
	bool added;             /* adkfs adds the tool where it is needed */
} builtins[] = {
	{ TOOL_TRANSFER, "transfer_to_agent",
	  "Hand the conversation over to another agent that is better placed to go on with it. "
	  "That agent answers the user from then on.",
	  "{\"type\":\"object\",\"properties\":{\"agent_name\":{\"type\":\"string\","
	  "\"description\":\"the name of the agent that takes over\"}},"
	  "\"required\":[\"agent_name\"]}",
	  true },
	{ TOOL_EXIT_LOOP, "exit_loop",
	  "End the loop that you are a part of. Call this only when you were told to, that is when "
	  "the loop has reached its goal.",
	  NULL, false },
	{ TOOL_LOAD_MEMORY, "load_memory",
	  "Look up what is remembered from earlier conversations with this user.",
	  "{\"type\":\"object\",\"properties\":{\"query\":{\"type\":\"string\","
	  "\"description\":\"words to look for\"}},\"required\":[\"query\"]}",
	  false },
	{ TOOL_PRELOAD_MEMORY, "preload_memory",
	  "Tells the agent what is remembered about the user's words. Not called by models.", NULL,
	  false },
	{ TOOL_LOAD_ARTIFACTS, "load_artifacts",
	  "Show the content of artifacts, which are files of this session or this user. It is "
	  "there for the next answer only.",
	  "{\"type\":\"object\",\"properties\":{\"artifact_names\":{\"type\":\"array\","
	  "\"items\":{\"type\":\"string\"},\"description\":\"names of the artifacts to show\"}}}",
	  false },
	{ TOOL_MODEL_RESPONSE, "set_model_response",
	  "Give your final answer in the form that is asked for. Call this once you have all that "
	  "you need, in place of an answer as text.",
	  NULL, true },
};

/* Calls that ADK writes into the log for clients to answer. */
static const char *const client_calls[] = { "adk_request_confirmation", "adk_request_credential" };

enum tool_kind builtin_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(builtins); i++) {
		if (!strcmp(builtins[i].name, name))
			return builtins[i].kind;
	}
	return TOOL_PROGRAM;
}

static const struct builtin *find_kind(enum tool_kind kind)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(builtins); i++) {
		if (builtins[i].kind == kind)
			return &builtins[i];
	}
	return NULL;
}

int builtin_fill(enum tool_kind kind, struct tool *tool, struct err *err)
{
	const struct builtin *row = find_kind(kind);

	if (!row)
		return err_set(err, -EINVAL, "no built-in tool is of kind %d", (int)kind);
	tool->kind = kind;
	tool->name = strdup(row->name);
	tool->description = strdup(row->description);
	tool->parameters = row->parameters ? json_loads(row->parameters, 0, NULL) : NULL;
	if (!tool->name || !tool->description || (row->parameters && !tool->parameters))
		return err_nomem(err);
	return 0;
}

bool builtin_is_reserved(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(builtins); i++) {
		if (builtins[i].added && !strcmp(builtins[i].name, name))
			return true;
	}
	for (i = 0; i < ARRAY_SIZE(client_calls); i++) {
		if (!strcmp(client_calls[i], name))
			return true;
	}
	return false;
}
