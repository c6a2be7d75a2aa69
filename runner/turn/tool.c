/*
 * Tools: see tool.h.
 */
#include "runner/turn/tool.h"

#include "base/json_text.h"
#include "base/utf8.h"
#include "runner/syntax/json_value.h"
#include "runner/syntax/schema.h"
#include "runner/turn/run.h"

#include <errno.h>

/* Arguments */

int tool_check_args(const struct tool *tool, struct span args, struct err *reason)
{
	json_auto_t *tree = NULL;

	if (!args.len || args.data[0] != '{')
		return err_set(reason, -EINVAL, "the arguments must be an object");
	if (!tool->parameters)
		return 0;
	tree = json_value_load(args); /* the program gets integers as they were written */
	if (!tree)
		return err_set(reason, -EINVAL, "the arguments cannot be checked");
	return schema_check(tool->parameters, tree, reason);
}

/* Responses */

static int wrap(struct span json, struct buf *response)
{
	bool is_object = json.data[0] == '{';

	if (!is_object)
		buf_text(response, "{\"result\":");
	buf_span_add(response, json);
	if (!is_object)
		buf_char(response, '}');
	return buf_check(response, NULL);
}

static int wrap_text(struct span text, struct buf *response)
{
	if (text.len && text.data[text.len - 1] == '\n')
		text.len--;
	buf_text(response, "{\"result\":");
	json_quote(response, text);
	buf_char(response, '}');
	return buf_check(response, NULL);
}

int tool_response(const struct tool *tool, struct span output, struct buf *response)
{
	CLEANUP(buf_release) struct buf json = { 0 };
	int r;

	if (!output.len)
		return tool->long_running ? 0 : wrap(SPAN("null"), response);
	if (!utf8_is_valid(output))
		return -EILSEQ;
	r = json_canonical_text(output, JSON_DEPTH_FREE, &json, NULL);
	if (r == -ENOMEM)
		return r;
	return r < 0 ? wrap_text(output, response) : wrap(buf_span(&json), response);
}

/* Calls */

/* Set the response of a program. failed: its changes are dropped. */
static int answer(struct tool_call *call, const struct process *p, bool *failed)
{
	CLEANUP(buf_release) struct buf reason = { 0 };
	const char *why = process_reason(p, &reason);
	int r;

	*failed = true;
	if (why)
		return call_error(call, "%s", why);
	r = tool_response(call->tool, buf_span(&p->output), &call->response);
	if (r == -EILSEQ)
		return call_error(call, "the output is not UTF-8 text; save binary "
					"results as artifacts");
	*failed = r < 0;
	return r;
}

static int run_in(struct tool_call *call, struct context *ctx, bool *failed, struct err *err)
{
	CLEANUP(buf_release) struct buf input = { 0 };
	struct process p = { 0 };
	int r;

	buf_span_add(&input, buf_span(&call->args));
	buf_char(&input, '\n');
	p.input = buf_span(&input);
	r = buf_check(&input, err);
	if (r == 0)
		r = run_program(call->run, &call->tool->program, ctx, &p, err);
	if (r == 0)
		r = answer(call, &p, failed);
	call->stderr_text = p.stderr_text;
	p.stderr_text = (struct buf){ 0 };
	call->nsec = p.nsec;
	process_release(&p);
	return r;
}

int call_program(struct tool_call *call, struct err *err)
{
	struct context *ctx;
	bool failed = true;
	int taken;
	int r = run_open_context(call->run, call_context(call), &ctx, err);

	if (r < 0)
		return r;
	r = run_in(call, ctx, &failed, err);
	taken = changes_adopt(&call->changes, ctx, !failed, r < 0 ? NULL : err);
	if (r == 0 && taken < 0 && save_refused(taken))
		return call_error(call, "an artifact that the program saved cannot be kept: %s",
				  err->text);
	return r < 0 ? r : taken;
}
