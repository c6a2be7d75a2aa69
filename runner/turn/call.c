/*
 * Calls: see call.h.
 */
#include "runner/turn/call.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int call_error(struct tool_call *call, const char *fmt, ...)
{
	char text[2200];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	buf_clear(&call->response);
	buf_text(&call->response, "{\"error\":");
	json_quote_lossy(&call->response, span_of(text));
	buf_char(&call->response, '}');
	return buf_check(&call->response, NULL);
}

int call_drop(struct tool_call *call)
{
	changes_release(&call->changes);
	call->transfer = NULL;
	return changes_init(&call->changes, call->run);
}

void call_release(struct tool_call *call)
{
	buf_release(&call->args);
	buf_release(&call->logged);
	buf_release(&call->response);
	buf_release(&call->stderr_text);
	changes_release(&call->changes);
}

struct context_spec call_context(const struct tool_call *call)
{
	return (struct context_spec){ .kind = CONTEXT_TOOL,
				      .name = call->id,
				      .call_id = call->id,
				      .args = buf_span(&call->args),
				      .below = call->changes.state };
}

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
