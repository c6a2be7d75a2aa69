/*
 * Requests of agents to their models: see request.h.
 */
#include "runner/agent/request.h"

#include <errno.h>

bool agent_declare(const struct tool *tool, struct model_tool *out)
{
	if (tool->kind == TOOL_PRELOAD_MEMORY)
		return false;
	*out = (struct model_tool){ tool->name, tool->description ? tool->description : "",
				    tool->parameters };
	return true;
}

static int set_shape(json_t *config, json_t *schema)
{
	int r = 0;

	if (!json_object_get(config, "responseMimeType"))
		r |= json_object_set_new(config, "responseMimeType",
					 json_string("application/json"));
	if (!json_object_get(config, "responseJsonSchema"))
		r |= json_object_set(config, "responseJsonSchema", schema);
	return r ? -ENOMEM : 0;
}

int agent_config(const struct agent *agent, bool shaped, json_t **config)
{
	*config = NULL;
	shaped = shaped && agent->output_schema;
	if (!agent->config && !shaped)
		return 0;
	*config = agent->config ? json_deep_copy(agent->config) : json_object();
	if (!*config)
		return -ENOMEM;
	return shaped ? set_shape(*config, agent->output_schema) : 0;
}
