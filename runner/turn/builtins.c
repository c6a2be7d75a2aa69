/*
 * Built-in tools: see tool.h.
 */
#include "runner/turn/tool.h"

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

int call_transfer(struct tool_call *call, struct err *err)
{
	CLEANUP(buf_release) struct buf name = { 0 };
	struct span value;
	int r = json_member(buf_span(&call->args), "agent_name", &value);

	if (r == 0)
		r = json_unquote(value, &name);
	if (r < 0 || !buf_cstr(&name))
		return call_error(call, "agent_name must be the name of an agent");
	if (!offer_target(call->offer, name.data))
		return call_no_target(call, name.data);
	r = changes_act(&call->changes, "transferToAgent", value);
	return r < 0 ? err_nomem(err) : answer(call, "{\"result\":null}");
}

int call_exit_loop(struct tool_call *call, struct err *err)
{
	int r = changes_act(&call->changes, "escalate", SPAN("true"));

	if (r == 0)
		r = changes_act(&call->changes, "skipSummarization", SPAN("true"));
	return r < 0 ? err_nomem(err) : answer(call, "{\"result\":null}");
}

/* load_memory */

static int add_match(void *arg, const struct memory_match *match)
{
	struct buf *list = arg;

	if (list->data[list->len - 1] != '[')
		buf_char(list, ',');
	return memory_show(match, list);
}

int call_load_memory(struct tool_call *call, struct err *err)
{
	struct invocation *in = call->run->sink->in;
	CLEANUP(buf_release) struct buf query = { 0 };
	struct ref user = in->live->ref;
	struct span value;
	int r = json_member(buf_span(&call->args), "query", &value);

	if (r == 0)
		r = json_unquote(value, &query);
	if (r < 0)
		return call_error(call, "query must be a text");
	user.session = 0;
	buf_text(&call->response, "{\"memories\":[");
	r = memory_search(in->host->store,
			  &(struct memory_query){ user, buf_span(&query), MEMORIES_MAX }, add_match,
			  &call->response, err);
	buf_text(&call->response, "]}");
	return r < 0 ? r : buf_check(&call->response, err);
}

/* load_artifacts */

int call_load_artifacts(struct tool_call *call, struct err *err)
{
	struct agent_run *run = call->run;
	struct span names = SPAN("[]");
	json_t *list;

	(void)!json_member(buf_span(&call->args), "artifact_names", &names);
	list = json_loadb(names.data, names.len, 0, NULL);
	if (!json_is_array(list)) {
		json_decref(list);
		return call_error(call, "artifact_names must be a list of names");
	}
	mutex_lock(&run->sink->lock); /* other calls may load as well */
	if (!run->artifacts)
		run->artifacts = list;
	else if (json_array_extend(run->artifacts, list) == 0)
		json_decref(list);
	mutex_unlock(&run->sink->lock);
	buf_text(&call->response, "{\"artifact_names\":");
	buf_span_add(&call->response, names);
	buf_text(&call->response,
		 ",\"status\":\"the contents follow once, and are gone then; load them again when "
		 "they are needed\"}");
	return buf_check(&call->response, err);
}

/* set_model_response: calls.c takes the args. */
int call_model_response(struct tool_call *call, struct err *err)
{
	(void)err;
	return answer(call, "{\"result\":null}");
}
