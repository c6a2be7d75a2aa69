/*
 * Tools in requests: what the providers' declarations of functions share.
 */
#ifndef RUNNER_WIRE_TOOL_H
#define RUNNER_WIRE_TOOL_H

#include "runner/wire/name.h"
#include "runner/wire/provider.h"

/* How a protocol declares functions. */
struct model_tool_form {
	const char *list; /* begins the list; list_end ends it */
	const char *list_end;
	const char *item; /* begins a function; item_end ends it */
	const char *item_end;

	/* Append the member of the parameters. -E2BIG: nested too deeply; -ENOMEM; -EINVAL. */
	int (*put_parameters)(const struct model_tool *tool, struct buf *out);
};

/* Lists of objects, and functions as OpenAI's chat has them. */
#define MODEL_TOOL_LIST     .list = "[", .list_end = "]"
#define MODEL_TOOL_FUNCTION .item = "{\"type\":\"function\",\"function\":{", .item_end = "}}"

/* "parameters": the schema of an object, even for a tool that takes nothing. */
MUST_CHECK int model_tool_parameters(const struct model_tool *tool, struct buf *out);

/*
 * Append the member "tools"; nothing when there are none. -EINVAL names the tool
 * that cannot be declared; -ENOMEM.
 */
MUST_CHECK int model_tools_put(const struct model_tool_form *form,
			       const struct model_name_rule *names, const struct question *q,
			       struct buf *out, struct err *err);

#endif
