/*
 * Tools in requests: declarations of functions, in the form of each protocol.
 */
#ifndef RUNNER_WIRE_TOOL_H
#define RUNNER_WIRE_TOOL_H

#include "runner/wire/name.h"
#include "runner/wire/provider.h"

/* How a protocol declares functions. */
struct model_tool_form {
	const char *list; /* the text before all functions */
	const char *list_end;
	const char *item; /* the text before one function */
	const char *item_end;

	/* Append the member of the parameters. -E2BIG: nested too deeply; -ENOMEM; -EINVAL. */
	int (*put_parameters)(const struct model_tool *tool, struct buf *out);
};

/* A list of objects; functions in the form of OpenAI's chat completions. */
#define MODEL_TOOL_LIST     .list = "[", .list_end = "]"
#define MODEL_TOOL_FUNCTION .item = "{\"type\":\"function\",\"function\":{", .item_end = "}}"

/* Append the member "parameters": for a tool that takes nothing, the schema of an empty object. */
MUST_CHECK int model_tool_parameters(const struct model_tool *tool, struct buf *out);

/*
 * Append the member "tools", if the question has tools. -EINVAL names the tool that cannot be
 * declared; -ENOMEM.
 */
MUST_CHECK int model_tools_put(const struct model_tool_form *form,
			       const struct model_name_rule *names, const struct question *q,
			       struct buf *out, struct err *err);

#endif
