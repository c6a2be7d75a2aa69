/*
 * Prompts: see prompt.h.
 */
#include "runner/turn/prompt.h"

#include "runner/agent/instruction.h"
#include "runner/agent/request.h"
#include "runner/history/history.h"
#include "runner/syntax/json_put.h"
#include "runner/turn/artifacts.h"
#include "runner/turn/output.h"
#include "runner/turn/run.h"
#include "store/memory/memory.h"
#include "store/turn/text.h"

#include <errno.h>
#include <stdlib.h>

#define PRELOAD_MAX 10 /* entries of memory that a prompt has without asking */

void prompt_release(struct prompt *prompt)
{
	free(prompt->model);
	buf_release(&prompt->system);
	history_release(&prompt->history);
	free(prompt->tools);
	json_decref(prompt->config);
	json_decref(prompt->tool_schemas);
	*prompt = (struct prompt){ 0 };
}

static int insert(struct prompt *prompt, size_t at, struct content *content)
{
	struct history *h = &prompt->history;
	int r = history_add(h, content);

	if (r < 0)
		return r;
	memmove(h->contents + at + 1, h->contents + at,
		(h->count - 1 - at) * sizeof(struct content *));
	h->contents[at] = content;
	return 0;
}

/* Instructions */

static int find_state(void *arg, struct span key, struct buf *json, struct err *err)
{
	struct agent_run *run = arg;

	return stateview_get(run_state(run), key, json, err);
}

static int find_artifact(void *arg, struct span name, struct buf *text, struct err *err)
{
	return run_artifact_text(arg, name, text, err);
}

static int render(struct agent_run *run, struct buf *text)
{
	struct instruction_source source = { find_state, find_artifact, run };
	struct err err = { 0 };

	if (!run->agent->instruction)
		return 0;
	if (instruction_render(span_of(run->agent->instruction), &source, text, &err) < 0)
		return run_fail(run, "TEMPLATE_ERROR", &err);
	return 0;
}

static void add_block(struct buf *out, struct span block)
{
	if (!block.len)
		return;
	if (out->len)
		buf_text(out, "\n\n");
	buf_span_add(out, block);
}

static void add_texts(const struct content *content, struct buf *out)
{
	size_t i;

	for (i = 0; i < content->count; i++) {
		if (content->parts[i].kind != PART_TEXT)
			continue;
		if (out->len)
			buf_char(out, '\n');
		buf_span_add(out, buf_span(&content->parts[i].text));
	}
}

static void add_identity(const struct agent *agent, struct buf *out)
{
	CLEANUP(buf_release) struct buf text = { 0 };

	buf_printf(&text, "You are an agent. Your internal name is \"%s\".", agent->name);
	if (agent->description && *agent->description)
		buf_printf(&text, " The description about you is \"%s\".", agent->description);
	add_block(out, buf_span(&text));
}

static void add_transfers(const struct agent *agent, const struct offer *offer, struct buf *out)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	size_t i;

	if (!offer->target_count)
		return;
	buf_text(&text, "Other agents can take over the conversation:\n");
	for (i = 0; i < offer->target_count; i++)
		buf_printf(&text, "\nAgent name: %s\nAgent description: %s\n",
			   offer->targets[i]->name,
			   offer->targets[i]->description ? offer->targets[i]->description : "");
	buf_text(&text, "\nAnswer yourself when your description fits the question best. When that "
			"of another agent fits better, call `transfer_to_agent` with its name, and "
			"write nothing besides the call.");
	for (i = 0; i < offer->target_count; i++) {
		if (offer->targets[i] == agent->parent)
			buf_printf(&text,
				   " Your parent agent is %s: when neither you nor the others fit, "
				   "hand over to it.",
				   agent->parent->name);
	}
	add_block(out, buf_span(&text));
}

/* Say how the model must answer: by calling set_model_response, or as JSON. */
static void add_schema(const struct agent *agent, const struct offer *offer, struct buf *out)
{
	CLEANUP(buf_release) struct buf text = { 0 };

	if (!agent->output_schema || output_is_native(agent))
		return;
	if (offer_find(offer, "set_model_response")) {
		add_block(out, SPAN("Your final answer has to be a call of set_model_response. "
				    "Call other tools before it as you need them."));
		return;
	}
	buf_text(&text,
		 "Your final answer has to be one JSON value that fits this JSON Schema, and "
		 "nothing besides it:\n");
	if (jsonput_value(&text, agent->output_schema) < 0) {
		out->failed = true;
		return;
	}
	add_block(out, buf_span(&text));
}

/* Texts of tools */

static int add_match(void *arg, const struct memory_match *match)
{
	CLEANUP(event_release) struct event e = { 0 };
	CLEANUP(content_free_p) struct content *content = NULL;
	CLEANUP(buf_release) struct buf author = { 0 };
	struct buf *text = arg;
	int r = event_from_json(match->line, &e, NULL);

	if (r == 0)
		r = turn_content(&e, &content);
	if (r == 0)
		r = event_text(&e, EVENT_AUTHOR, &author);
	if (r < 0 || !content)
		return r;
	buf_char(text, '\n');
	buf_span_add(text, buf_span(&author));
	buf_text(text, ": ");
	content_text(content, text);
	return buf_check(text, NULL);
}

static int preload_memory(struct agent_run *run, struct buf *out, struct err *err)
{
	struct invocation *in = run->sink->in;
	CLEANUP(content_free_p) struct content *message = NULL;
	CLEANUP(buf_release) struct buf query = { 0 };
	CLEANUP(buf_release) struct buf text = { 0 };
	struct ref user = in->live->ref;
	struct span json = run->sink->message;
	int r = json.len ? content_from_stored(json, &message) : 0;

	if (r < 0)
		return r;
	if (message)
		content_text(message, &query);
	user.session = 0;
	r = memory_search(in->host->store,
			  &(struct memory_query){ user, buf_span(&query), PRELOAD_MAX }, add_match,
			  &text, err);
	if (r < 0 || !text.len)
		return r;
	buf_clear(&query);
	buf_text(
		&query,
		"From earlier conversations with this user, perhaps of use:\n<PAST_CONVERSATIONS>");
	buf_span_add(&query, buf_span(&text));
	buf_text(&query, "\n</PAST_CONVERSATIONS>");
	add_block(out, buf_span(&query));
	return 0;
}

static int add_artifact_names(struct agent_run *run, struct buf *out, struct err *err)
{
	CLEANUP(buf_release) struct buf names = { 0 };
	CLEANUP(buf_release) struct buf text = { 0 };
	int r = run_artifact_names(run, &names, err);

	if (r < 0 || span_is(buf_span(&names), "[]"))
		return r;
	buf_text(&text, "These artifacts are there:\n");
	buf_span_add(&text, buf_span(&names));
	buf_text(&text, "\nWhen the user asks about one of them, call `load_artifacts` before you "
			"answer, also when you loaded it earlier: its content is shown once.");
	add_block(out, buf_span(&text));
	return 0;
}

static int add_of_tools(struct agent_run *run, struct buf *out, struct err *err)
{
	const struct agent *agent = run->agent;
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < agent->tool_count; i++) {
		switch (agent->tools[i].kind) {
		case TOOL_LOAD_MEMORY:
			add_block(out, SPAN("You have a memory of earlier conversations. When a "
					    "question may need it, call `load_memory` with a "
					    "query."));
			break;
		case TOOL_PRELOAD_MEMORY:
			r = preload_memory(run, out, err);
			break;
		case TOOL_LOAD_ARTIFACTS:
			r = add_artifact_names(run, out, err);
			break;
		default:
			break;
		}
	}
	return r;
}

static int build_system(struct agent_run *run, const struct offer *offer, struct prompt *prompt)
{
	const struct agent *agent = run->agent;
	CLEANUP(buf_release) struct buf text = { 0 };
	struct err err = { 0 };
	int r = 0;

	if (agent->static_instruction)
		add_texts(agent->static_instruction, &text);
	else
		r = render(run, &text);
	if (r < 0)
		return r;
	add_block(&prompt->system, buf_span(&text));
	add_identity(agent, &prompt->system);
	add_schema(agent, offer, &prompt->system);
	add_transfers(agent, offer, &prompt->system);
	r = add_of_tools(run, &prompt->system, &err);
	if (r == 0)
		r = buf_check(&prompt->system, &err);
	return r < 0 ? run_fail(run, NULL, &err) : 0;
}

/* Contents */

static bool is_plain_user(const struct content *c)
{
	return c->role && !strcmp(c->role, "user") && !content_has(c, PART_RESPONSE);
}

/* Beside a static instruction, the templated one is a content of the user before the newest. */
static int add_instruction_content(struct agent_run *run, struct prompt *prompt)
{
	CLEANUP(content_free_p) struct content *content = content_new("user");
	CLEANUP(buf_release) struct buf text = { 0 };
	size_t at = prompt->history.count;
	int r;

	if (!run->agent->static_instruction)
		return 0;
	r = render(run, &text);
	if (r < 0 || !text.len)
		return r;
	while (at && is_plain_user(prompt->history.contents[at - 1]))
		at--;
	if (!content || content_add_text(content, buf_span(&text), false) < 0 ||
	    insert(prompt, at, STEAL(&content)) < 0)
		return run_nomem(run);
	return 0;
}

/* Put the parts of a static instruction that are not text first. */
static int add_static_parts(struct agent_run *run, struct prompt *prompt)
{
	CLEANUP(content_free_p) struct content *copy = NULL;
	size_t kept = 0;
	size_t i;

	if (!run->agent->static_instruction)
		return 0;
	copy = content_copy(run->agent->static_instruction);
	if (!copy)
		return run_nomem(run);
	for (i = 0; i < copy->count; i++) {
		if (copy->parts[i].kind == PART_TEXT) {
			part_release(&copy->parts[i]);
			continue;
		}
		copy->parts[kept++] = copy->parts[i];
	}
	copy->count = kept;
	free(copy->role);
	copy->role = strdup("user");
	if (!kept)
		return 0;
	if (!copy->role || insert(prompt, 0, STEAL(&copy)) < 0)
		return run_nomem(run);
	return 0;
}

/* Add the artifacts that load_artifacts asked for, in this prompt only. */
static int add_loaded(struct agent_run *run, struct prompt *prompt)
{
	json_auto_t *names = STEAL(&run->artifacts);
	json_t *name;
	size_t i;

	json_array_foreach(names, i, name)
	{
		struct content *content = NULL;
		struct err err = { 0 };
		int r = run_artifact_content(run, json_string_value(name), &content, &err);

		if (r == 0)
			r = history_add(&prompt->history, content);
		if (r < 0)
			return err.code ? run_fail(run, NULL, &err) : run_nomem(run);
	}
	return 0;
}

/* The provider that an agent's model is asked over a network, or NULL. */
static const char *provider_of(const struct agent *agent)
{
	const struct model_provider *provider;
	const char *name;

	return model_find(agent->model, &provider, &name, NULL) == 0 && provider->encode
		       ? provider->name
		       : NULL;
}

static int load_history(struct agent_run *run, struct prompt *prompt)
{
	struct event_sink *sink = run->sink;
	CLEANUP(buf_release) struct buf lines = { 0 };
	struct history_query query = { .store = sink->in->host->store,
				       .session = sink->in->live->ref,
				       .cache = sink->in->host->past_cache,
				       .agent = run->agent->name,
				       .branch = run->branch,
				       .provider = provider_of(run->agent),
				       .only_present = run->agent->no_history,
				       .n = sink->in->live->n };
	struct err err = { 0 };
	int r;

	if (sink->nested) {
		mutex_lock(&sink->lock);
		buf_span_add(&lines, buf_span(&sink->lines));
		mutex_unlock(&sink->lock);
		query.own_lines = buf_span(&lines);
	}
	r = history_build(&query, &prompt->history, &err);
	return r < 0 ? run_fail(run, NULL, &err) : 0;
}

/* Tools */

static int list_tools(const struct offer *offer, struct prompt *prompt)
{
	size_t i;

	prompt->tools = calloc(offer->count + 1, sizeof *prompt->tools);
	if (!prompt->tools)
		return -ENOMEM;
	for (i = 0; i < offer->count; i++)
		prompt->tool_count += agent_declare(offer->list[i],
						    &prompt->tools[prompt->tool_count]);
	return 0;
}

int prompt_build(struct agent_run *run, const struct offer *offer, struct prompt *out)
{
	const struct agent *agent = run->agent;
	int r = build_system(run, offer, out);

	if (r == 0)
		r = load_history(run, out);
	if (r == 0)
		r = add_instruction_content(run, out);
	if (r == 0)
		r = add_static_parts(run, out);
	if (r == 0)
		r = references_load(run, &out->history);
	if (r == 0)
		r = add_loaded(run, out);
	if (r < 0)
		return r;
	out->model = strdup(agent->model);
	if (!out->model || list_tools(offer, out) < 0 ||
	    agent_config(agent, !offer_find(offer, "set_model_response"), &out->config) < 0)
		return run_nomem(run);
	return 0;
}
