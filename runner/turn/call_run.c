/*
 * The run of a call: see call.h.
 */
#include "runner/turn/call.h"

#include "base/clock.h"
#include "runner/turn/callback.h"
#include "runner/turn/run.h"
#include "runner/turn/tool.h"

#include <errno.h>

/* Tools of servers */

static int call_mcp(struct tool_call *call, struct err *err)
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

/* Callbacks of a tool */

static void add_call(const struct tool_call *call, struct buf *out)
{
	buf_text(out, "{\"tool\":");
	json_quote(out, span_of(call->name));
	buf_text(out, ",\"args\":");
	buf_span_add(out, buf_span(&call->args));
}

static int before_input(void *arg, struct buf *out)
{
	add_call(arg, out);
	buf_char(out, '}');
	return buf_check(out, NULL);
}

static int after_input(void *arg, struct buf *out)
{
	const struct tool_call *call = arg;

	add_call(call, out);
	buf_text(out, ",\"response\":");
	buf_span_add(out, call->response.len ? buf_span(&call->response) : SPAN("null"));
	buf_char(out, '}');
	return buf_check(out, NULL);
}

static int take_object(struct span output, const char *name, struct buf *out, struct err *err)
{
	struct span value;

	if (json_member(output, name, &value) < 0)
		return 0;
	if (value.data[0] != '{')
		return err_set(err, -EINVAL, "%s must be an object", name);
	buf_clear(out);
	buf_span_add(out, value);
	return out->failed ? err_nomem(err) : 1;
}

static int before_take(void *arg, struct span output, struct err *err)
{
	struct tool_call *call = arg;
	int r = take_object(output, "response", &call->response, err);

	if (r)
		return r;
	r = take_object(output, "args", &call->args, err);
	if (r == 0)
		r = err_set(err, -EINVAL, "its output has neither response nor args");
	return r < 0 ? r : 0;
}

static int after_take(void *arg, struct span output, struct err *err)
{
	struct tool_call *call = arg;
	int r = take_object(output, "response", &call->response, err);

	return r ? r : err_set(err, -EINVAL, "its output has no response");
}

static int tool_callbacks(struct tool_call *call, enum callback_kind kind)
{
	struct callback_run cb = { .kind = kind,
				   .call = call,
				   .changes = &call->changes,
				   .input = kind == BEFORE_TOOL ? before_input : after_input,
				   .output = kind == BEFORE_TOOL ? before_take : after_take,
				   .arg = call };

	return callbacks_run(call->run, &cb);
}

/* The tool */

static int answer_unknown(struct tool_call *call)
{
	CLEANUP(buf_release) struct buf names = { 0 };
	size_t i;

	for (i = 0; i < call->offer->count; i++) {
		if (call->offer->list[i]->kind != TOOL_PRELOAD_MEMORY)
			buf_printf(&names, "%s%s", names.len ? ", " : "",
				   call->offer->list[i]->name);
	}
	if (!names.len)
		buf_text(&names, "none");
	if (!buf_cstr(&names))
		return -ENOMEM;
	return call_error(call, "Tool '%.200s' not found. Available tools: %.1500s", call->name,
			  names.data);
}

typedef int work_fn(struct tool_call *call, struct err *err);

/* How each kind of tool answers a call. The model never sees TOOL_PRELOAD_MEMORY. */
static work_fn *const works[] = {
	[TOOL_PROGRAM] = call_program,
	[TOOL_AGENT] = call_agent,
	[TOOL_MCP] = call_mcp,
	[TOOL_TRANSFER] = call_transfer,
	[TOOL_EXIT_LOOP] = call_exit_loop,
	[TOOL_LOAD_MEMORY] = call_load_memory,
	[TOOL_PRELOAD_MEMORY] = NULL,
	[TOOL_LOAD_ARTIFACTS] = call_load_artifacts,
	[TOOL_MODEL_RESPONSE] = call_model_response,
};

/* Answer by the tool, if its arguments are right and nobody has to be asked first. */
static int use_tool(struct tool_call *call, struct err *err)
{
	work_fn *work;
	struct err reason = { 0 };
	int r;

	if (!call->tool)
		return answer_unknown(call);
	r = tool_check_args(call->tool, buf_span(&call->args), &reason);
	if (r == -EINVAL)
		return call_error(call, "%s", reason.text);
	if (r < 0)
		return r;
	if (call->tool->confirm && !call->approved) {
		if (call->run->sink->nested)
			return call_error(call,
					  "%s needs a confirmation, which an agent that is "
					  "called as a tool cannot ask for",
					  call->name);
		call->asks = true;
		return call_error(call, "confirmation required");
	}
	work = works[call->tool->kind];
	if (!work)
		return call_error(call, "%s cannot be called", call->name);
	r = work(call, err);
	if (r == 0 && !call->response.len && call->run->sink->nested)
		return call_error(call,
				  "%s has no result yet, and an agent that is called as a tool "
				  "cannot wait for one",
				  call->name);
	return r;
}

/* Run the callbacks before the call, the tool, and the callbacks after it. */
static int answer_call(struct tool_call *call, struct err *err)
{
	bool has_answer;
	int r;

	if (call->reason)
		return call_error(call, "%s", call->reason);
	r = tool_callbacks(call, BEFORE_TOOL);
	if (r < 0)
		return r;
	has_answer = r == 1;
	if (!has_answer && use_tool(call, err) < 0)
		return run_fail(call->run, NULL, err);
	r = call->asks ? 0 : tool_callbacks(call, AFTER_TOOL);
	return r < 0 ? r : 0;
}

/*
 * Find the agent that the actions of the call transfer to. If it is none of the targets, drop all
 * that the call did and answer with an error.
 */
static int find_transfer(struct tool_call *call)
{
	CLEANUP(buf_release) struct buf name = { 0 };
	struct span value;

	if (!call->changes.actions.len ||
	    json_member(buf_span(&call->changes.actions), "transferToAgent", &value) < 0)
		return 0;
	if (json_unquote(value, &name) < 0 || !buf_cstr(&name))
		return -ENOMEM;
	call->transfer = offer_target(call->offer, name.data);
	if (call->transfer)
		return 0;
	call->asks = false;
	return call_drop(call) < 0 ? -ENOMEM : call_no_target(call, name.data);
}

void call_run(struct tool_call *call)
{
	struct agent_run *run = call->run;
	uint64_t began = clock_monotonic();
	struct err *err = &call->err;
	int r = changes_init(&call->changes, run);

	if (r < 0)
		r = run_fail(run, NULL, err);
	else
		r = answer_call(call, err);
	if (r == 0 && find_transfer(call) < 0)
		r = run_nomem(run);
	if (r < 0)
		err->code = r;
	call->nsec = call->nsec ? call->nsec : clock_monotonic() - began;
}
