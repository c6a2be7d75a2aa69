/*
 * Built-in tools at work. See run.h.
 */
#include "runner/turn/run.h"

#include "base/json_text.h"
#include "store/memory/memory.h"

#include <errno.h>

#define MEMORIES_MAX 10

static int answer(struct tool_call *call, const char *json)
{
	buf_clear(&call->response);
	buf_text(&call->response, json);
	return buf_check(&call->response, NULL);
}

/* transfer_to_agent */

int call_no_target(struct tool_call *call, const char *name)
{
	CLEANUP(buf_release) struct buf names = { 0 };
	size_t i;

	for (i = 0; i < call->offer->target_count; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", call->offer->targets[i]->name);
	if (!names.len)
		buf_text(&names, "none");
	if (!buf_cstr(&names))
		return -ENOMEM;
	return call_error(call, "Agent '%.200s' not found. Available agents: %.1500s", name,
			  names.data);
}

static int transfer(struct tool_call *call)
{
	CLEANUP(buf_release) struct buf name = { 0 };
	struct span value;
	int r = json_member(buf_span(&call->args), "agent_name", &value);

	if (r == 0)
		r = json_unquote(value, &name);
	if (r < 0 || !buf_cstr(&name))
		return call_error(call, "agent_name: has to be the name of an agent");
	if (!offer_target(call->offer, name.data))
		return call_no_target(call, name.data);
	r = call_act(call, "transferToAgent", value);
	return r < 0 ? r : answer(call, "{\"result\":null}");
}

static int exit_loop(struct tool_call *call)
{
	int r = call_act(call, "escalate", SPAN("true"));

	if (r == 0)
		r = call_act(call, "skipSummarization", SPAN("true"));
	return r < 0 ? r : answer(call, "{\"result\":null}");
}

/* load_memory */

static int add_match(void *arg, const struct memory_match *match)
{
	struct buf *list = arg;

	if (list->data[list->len - 1] != '[')
		buf_char(list, ',');
	return memory_show(match, list);
}

static int load_memory(struct tool_call *call, struct err *err)
{
	struct invocation *in = call->run->sink->in;
	CLEANUP(buf_release) struct buf query = { 0 };
	struct ref user = in->live->ref;
	struct span value;
	int r = json_member(buf_span(&call->args), "query", &value);

	if (r == 0)
		r = json_unquote(value, &query);
	if (r < 0)
		return call_error(call, "query: has to be a text");
	user.session = 0;
	buf_text(&call->response, "{\"memories\":[");
	r = memory_search(in->host->store, user, buf_span(&query), MEMORIES_MAX, add_match,
			  &call->response, err);
	buf_text(&call->response, "]}");
	return r < 0 ? r : buf_check(&call->response, err);
}

/* load_artifacts */

static int load_artifacts(struct tool_call *call)
{
	struct agent_run *run = call->run;
	struct span names = SPAN("[]");
	json_t *list;

	(void)!json_member(buf_span(&call->args), "artifact_names", &names);
	list = json_loadb(names.data, names.len, 0, NULL);
	if (!json_is_array(list)) {
		json_decref(list);
		return call_error(call, "artifact_names: has to be a list of names");
	}
	mutex_lock(&run->sink->lock); /* other calls may load as well */
	if (!run->load)
		run->load = list;
	else if (json_array_extend(run->load, list) == 0)
		json_decref(list);
	mutex_unlock(&run->sink->lock);
	buf_text(&call->response, "{\"artifact_names\":");
	buf_span_add(&call->response, names);
	buf_text(&call->response,
		 ",\"status\":\"the contents follow once, and are gone then; load them again when "
		 "they are needed\"}");
	return buf_check(&call->response, NULL);
}

int call_builtin(struct tool_call *call, struct err *err)
{
	switch (call->tool->kind) {
	case TOOL_TRANSFER:
		return transfer(call);
	case TOOL_EXIT_LOOP:
		return exit_loop(call);
	case TOOL_LOAD_MEMORY:
		return load_memory(call, err);
	case TOOL_LOAD_ARTIFACTS:
		return load_artifacts(call);
	case TOOL_MODEL_RESPONSE:
		return answer(call, "{\"result\":null}");
	default:
		return call_error(call, "%s cannot be called", call->name);
	}
}

/* Of a server */

int call_mcp(struct tool_call *call, struct err *err)
{
	struct invocation *in = call->run->sink->in;
	struct err reason = { 0 };
	unsigned limit = in->tree->tool_timeout_ms;
	struct mcp_call made = { call->tool->server_name, buf_span(&call->args),
				 limit ? limit : PROCESS_TIMEOUT_MS };
	int r = mcp_call(call->tool->server, &made, &in->live->cancel, &call->response, &reason);

	if (r == -ECANCELED || r == -ENOMEM) {
		*err = reason;
		return r;
	}
	return r < 0 ? call_error(call, "%s", reason.text) : 0;
}
