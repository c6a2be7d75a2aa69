/*
 * Agents as tools: see tool.h.
 */
#include "runner/turn/tool.h"

#include "base/clock.h"
#include "base/json_text.h"
#include "runner/turn/commit.h"
#include "runner/turn/output.h"
#include "runner/turn/run.h"
#include "store/turn/text.h"

#include <errno.h>
#include <stdlib.h>

#define DEPTH_MAX 16 /* of agents that call agents */

/* The message: `request`, or all arguments as JSON when the agent has a schema for them. */
static int make_message(const struct tool_call *call, struct buf *json, struct err *err)
{
	CLEANUP(content_free_p) struct content *content = content_new("user");
	CLEANUP(buf_release) struct buf text = { 0 };
	struct span value;
	int r = 0;

	if (call->tool->agent->input_schema)
		buf_span_add(&text, buf_span(&call->args));
	else if (json_member(buf_span(&call->args), "request", &value) == 0 && value.data[0] == '"')
		r = json_unquote(value, &text);
	if (r == 0)
		r = content ? content_add_text(content, buf_span(&text), false) : -ENOMEM;
	if (r < 0)
		return err_nomem(err);
	content_to_json(content, json);
	return buf_check(json, err);
}

/* Begin the log in memory with the message. */
static int begin(struct event_sink *sink, struct span message, struct err *err)
{
	CLEANUP(event_release) struct event e = { 0 };

	event_set_text(&e, EVENT_INVOCATION, span_of(sink->in->live->invocation));
	event_set_text(&e, EVENT_AUTHOR, SPAN("user"));
	event_set_json(&e, EVENT_CONTENT, message);
	return sink_add(sink, &e, NULL, err);
}

/* The content of an agent's line; NULL: none. */
static struct content *content_of_line(struct span line)
{
	CLEANUP(event_release) struct event e = { 0 };
	struct content *content = NULL;

	if (event_from_json(line, &e, NULL) < 0 ||
	    span_is(event_json(&e, EVENT_AUTHOR), "\"user\""))
		return NULL;
	return turn_content(&e, &content) == 0 ? content : NULL;
}

/* Append the texts of the last event with a content, without thoughts, joined by newlines. */
static int last_text(struct span lines, struct buf *text)
{
	CLEANUP(content_free_p) struct content *content = NULL;
	size_t i;

	while (lines.len && !content) {
		size_t end = lines.len - 1; /* its newline */
		size_t from = end;

		while (from && lines.data[from - 1] != '\n')
			from--;
		content = content_of_line(span_sub(lines, from, end));
		lines.len = from;
	}
	for (i = 0; content && i < content->count; i++) {
		const struct part *p = &content->parts[i];

		if (p->kind != PART_TEXT || p->thought)
			continue;
		if (text->len)
			buf_char(text, '\n');
		buf_span_add(text, buf_span(&p->text));
	}
	return buf_check(text, NULL);
}

/*
 * Set the response. A text that does not fit the schema comes from a callback: it is a result as it
 * is.
 */
static int answer(struct tool_call *call, struct span lines)
{
	const struct agent *agent = call->tool->agent;
	CLEANUP(buf_release) struct buf text = { 0 };
	CLEANUP(buf_release) struct buf value = { 0 };
	int r = last_text(lines, &text);

	if (r < 0)
		return r;
	if (!agent->output_schema || !text.len ||
	    output_check(agent, buf_span(&text), &value, NULL) < 0) {
		buf_clear(&value);
		json_quote(&value, buf_span(&text));
	} else if (value.data[0] == '{') {
		buf_span_add(&call->response, buf_span(&value));
		return buf_check(&call->response, NULL);
	}
	buf_text(&call->response, "{\"result\":");
	buf_span_add(&call->response, buf_span(&value));
	buf_char(&call->response, '}');
	return buf_check(&call->response, NULL);
}

/* Make the agent's changes the call's, except for its `temp:` keys. */
static int take_changes(struct tool_call *call, struct event_sink *sink, struct err *err)
{
	struct changes *c = &call->changes;
	int r = stateview_drop_temp(sink->state, err);

	if (r == 0)
		r = stateview_lay(c->state, sink->state, err);
	mutex_lock(&sink->lock);
	buf_span_add(&c->saves, buf_span(&sink->saves));
	buf_span_add(&c->contexts, buf_span(&sink->contexts));
	sink->saves.len = sink->contexts.len = 0;
	mutex_unlock(&sink->lock);
	if (r == 0)
		r = c->saves.failed || c->contexts.failed ? err_nomem(err) : 0;
	return r;
}

static int finish(struct tool_call *call, struct event_sink *sink, struct agent_run *run,
		  int result, struct err *err)
{
	CLEANUP(buf_release) struct buf lines = { 0 };
	const struct failure *f = run->failure;

	if (result == -ECANCELED || result == -ENOMEM) {
		*err = f->err;
		return result;
	}
	if (result < 0)
		return call_error(call, "agent %s failed: %s", run->agent->name, f->err.text);
	mutex_lock(&sink->lock);
	buf_span_add(&lines, buf_span(&sink->lines));
	mutex_unlock(&sink->lock);
	if (lines.failed || answer(call, buf_span(&lines)) < 0)
		return err_nomem(err);
	result = take_changes(call, sink, err);
	if (result == 0 && call->tool->skip_summarization)
		result = changes_act(&call->changes, "skipSummarization", SPAN("true"));
	return result;
}

static void sink_release(struct event_sink *sink)
{
	struct changes left = { .in = sink->in, .contexts = sink->contexts, .saves = sink->saves };

	changes_release(&left); /* left by an agent that failed */
	stateview_free(sink->state);
	buf_release(&sink->lines);
	mutex_release(&sink->lock);
}

int call_agent(struct tool_call *call, struct err *err)
{
	struct event_sink sink = { .in = call->run->sink->in, .nested = true };
	CLEANUP(failure_release) struct failure failure = { 0 };
	CLEANUP(buf_release) struct buf message = { 0 };
	struct agent_run run = { .sink = &sink,
				 .agent = call->tool->agent,
				 .depth = call->run->depth + 1,
				 .failure = &failure };
	int r;

	if (run.depth > DEPTH_MAX)
		return call_error(call, "agents call each other more than %d deep", DEPTH_MAX);
	sink.state = stateview_new(call->changes.state, NULL);
	if (!sink.state)
		return err_nomem(err);
	mutex_init(&sink.lock);
	r = make_message(call, &message, err);
	sink.message = buf_span(&message);
	if (r == 0)
		r = begin(&sink, sink.message, err);
	if (r == 0) {
		r = sink.in->run_agent(&run);
		r = finish(call, &sink, &run, r, err);
	}
	sink_release(&sink);
	return r;
}
