/*
 * Offers: see offer.h.
 */
#include "runner/turn/offer.h"

#include "base/json_text.h"
#include "runner/agent/builtin.h"
#include "runner/agent/declaration.h"
#include "runner/syntax/folder.h"
#include "runner/turn/output.h"
#include "runner/turn/program.h"
#include "runner/turn/run.h"

#include <errno.h>
#include <stdlib.h>

#define OFFER_MAX 1024
#define DECLARATION_FILE                                                                           \
	"declaration" DECLARATION_SUFFIX /* a name for errors; the declarations are printed */

void offer_release(struct offer *offer)
{
	size_t i;

	for (i = 0; i < offer->made_count; i++) {
		tool_release(offer->made[i]);
		free(offer->made[i]);
	}
	free(offer->made);
	free(offer->list);
	free(offer->targets);
	*offer = (struct offer){ 0 };
}

const struct tool *offer_find(const struct offer *offer, const char *name)
{
	size_t i;

	for (i = 0; i < offer->count; i++) {
		if (!strcmp(offer->list[i]->name, name))
			return offer->list[i];
	}
	return NULL;
}

struct agent *offer_target(const struct offer *offer, const char *name)
{
	size_t i;

	for (i = 0; i < offer->target_count; i++) {
		if (!strcmp(offer->targets[i]->name, name))
			return offer->targets[i];
	}
	return NULL;
}

struct making {
	struct agent_run *run;
	struct offer *offer;
	struct toolset *set;
};

static int add(struct agent_run *run, struct offer *offer, const struct tool *tool)
{
	if (offer_find(offer, tool->name))
		return run_fail_text(run, "AGENT_ERROR", -EIO, "agent %s has two tools named %s",
				     run->agent->name, tool->name);
	if (offer->count == OFFER_MAX)
		return run_fail_text(run, "AGENT_ERROR", -EIO, "agent %s has more than %d tools",
				     run->agent->name, OFFER_MAX);
	offer->list[offer->count++] = tool;
	return 0;
}

/* A new tool, zero; NULL: no memory. */
static struct tool *make(struct offer *offer)
{
	struct tool **list = realloc(offer->made, (offer->made_count + 1) * sizeof(struct tool *));
	struct tool *tool = calloc(1, sizeof *tool);

	if (list)
		offer->made = list;
	if (!list || !tool) {
		free(tool);
		return NULL;
	}
	list[offer->made_count++] = tool;
	return tool;
}

/* Transfers: sub-agents, the parent, and its others. */

static void add_target(struct offer *offer, struct agent *agent)
{
	if (agent)
		offer->targets[offer->target_count++] = agent;
}

static int find_targets(const struct agent *agent, struct offer *offer)
{
	const struct agent *parent = agent->parent;
	bool has_parent = parent && parent->kind == AGENT_LLM;
	size_t i;

	offer->targets = calloc(agent->sub_count + 1 + (has_parent ? parent->sub_count : 0),
				sizeof(struct agent *));
	if (!offer->targets)
		return -ENOMEM;
	for (i = 0; i < agent->sub_count; i++)
		add_target(offer, agent->subs[i]);
	if (has_parent && !agent->no_parent)
		add_target(offer, agent->parent);
	for (i = 0; has_parent && !agent->no_peers && i < parent->sub_count; i++) {
		if (parent->subs[i] != agent)
			add_target(offer, parent->subs[i]);
	}
	return 0;
}

/* Add a built-in tool that no entry names. */
static int add_builtin(struct agent_run *run, struct offer *offer, enum tool_kind kind)
{
	struct tool *tool = make(offer);
	struct err err = { 0 };

	if (!tool || builtin_fill(kind, tool, &err) < 0)
		return run_nomem(run);
	tool->kind = kind;
	if (kind == TOOL_MODEL_RESPONSE)
		tool->parameters = json_incref(run->agent->output_schema);
	return add(run, offer, tool);
}

/* Servers */

static int add_server_tool(void *arg, const struct mcp_tool *offered)
{
	struct making *m = arg;
	struct tool *tool = make(m->offer);

	if (!tool)
		return run_nomem(m->run);
	tool->kind = TOOL_MCP;
	tool->server = m->set->server;
	tool->name = strdup(offered->name);
	tool->server_name = strdup(offered->server_name);
	tool->description = strdup(offered->description ? offered->description : "");
	tool->parameters = json_incref((json_t *)offered->parameters);
	if (!tool->name || !tool->server_name || !tool->description)
		return run_nomem(m->run);
	return add(m->run, m->offer, tool);
}

static int add_of_server(struct making *m)
{
	struct err err = { 0 };
	int r = mcp_tools(m->set->server, &m->run->sink->in->live->cancel, add_server_tool, m,
			  &err);

	if (r == 0 || m->run->failure->err.code)
		return r;
	return run_fail(m->run, r == -ECANCELED ? NULL : "AGENT_ERROR", &err);
}

/* Programs that print declarations */

static int fail_set(struct making *m, const char *why)
{
	return run_fail_text(m->run, "AGENT_ERROR", -EIO, "toolset %s: %s",
			     m->set->program.path + strlen(m->run->sink->in->tree->folder) + 1,
			     why);
}

/* Report an error of a declaration by its place in the list, without the made-up file name. */
static int fail_declaration(struct making *m, size_t place, const char *why)
{
	static const char file[] = DECLARATION_FILE ":1: ";
	struct err err = { 0 };

	if (!strncmp(why, file, strlen(file)))
		why += strlen(file);
	(void)err_set(&err, -EINVAL, "declaration %zu: %s", place + 1, why);
	return fail_set(m, err.text);
}

/* Find the program of a declaration: `program`, else tools/NAME. */
static int find_program(struct making *m, const char *path, struct tool *tool)
{
	const struct agent_tree *tree = m->run->sink->in->tree;
	CLEANUP(buf_release) struct buf name = { 0 };
	struct folder folder = { .path = tree->folder };
	struct err err = { 0 };

	if (path)
		buf_text(&name, path);
	else
		buf_printf(&name, "tools/%s", tool->name);
	if (!buf_cstr(&name))
		return run_nomem(m->run);
	if (folder_program(&folder, name.data, &tool->program.path, &err) < 0)
		return fail_set(m, err.text);
	return 0;
}

static int add_declared(struct making *m, size_t place, json_t *value)
{
	struct tool *tool = make(m->offer);
	json_auto_t *own = json_is_object(value) ? json_copy(value) : NULL;
	const char *path = json_string_value(json_object_get(value, "program"));
	const json_t *args = json_object_get(value, "args");
	struct err err = { 0 };
	char *text;
	int r;

	if (!tool || (json_is_object(value) && !own))
		return run_nomem(m->run);
	(void)json_object_del(own, "program");
	(void)json_object_del(own, "args");
	text = own ? json_dumps(own, 0) : NULL;
	if (!text)
		return fail_declaration(m, place, "must be an object");
	r = declaration_read(span_of(text), DECLARATION_FILE, tool, &err);
	free(text);
	if (r < 0)
		return fail_declaration(m, place, err.text);
	tool->kind = TOOL_PROGRAM;
	if (args)
		tool->program.args = json_dumps(args, JSON_COMPACT | JSON_REAL_PRECISION(15));
	if (!json_string_value(json_object_get(value, "name")))
		return fail_declaration(m, place, "the name is missing");
	r = find_program(m, path, tool);
	return r < 0 ? r : add(m->run, m->offer, tool);
}

static int read_declarations(struct making *m, const struct process *p)
{
	CLEANUP(buf_release) struct buf reason = { 0 };
	const char *why = process_reason(p, &reason);
	json_auto_t *list = NULL;
	json_t *value;
	size_t i;
	int r = 0;

	if (why)
		return fail_set(m, why);
	list = json_loadb(p->output.data ? p->output.data : "", p->output.len, 0, NULL);
	if (!json_is_array(list))
		return fail_set(m, "its output is not a JSON list of declarations");
	json_array_foreach(list, i, value)
	{
		r = add_declared(m, i, value);
		if (r < 0)
			break;
	}
	return r;
}

/* {"agent": NAME, "state": {...}} */
static int make_input(struct agent_run *run, struct buf *input, struct err *err)
{
	int r;

	buf_text(input, "{\"agent\":");
	json_quote(input, span_of(run->agent->name));
	buf_text(input, ",\"state\":");
	r = stateview_map(run_state(run), input, err);
	buf_text(input, "}\n");
	return r < 0 ? r : buf_check(input, err);
}

static int ask_program(struct making *m, struct context *ctx)
{
	CLEANUP(buf_release) struct buf input = { 0 };
	struct process p = { 0 };
	struct err err = { 0 };
	int r = make_input(m->run, &input, &err);

	p.input = buf_span(&input);
	if (r == 0)
		r = run_program(m->run, &m->set->program, ctx, &p, &err);
	r = r < 0 ? run_fail(m->run, r == -ECANCELED ? NULL : "AGENT_ERROR", &err)
		  : read_declarations(m, &p);
	process_release(&p);
	return r;
}

static int add_of_program(struct making *m)
{
	CLEANUP(changes_release) struct changes none = { 0 };
	struct context *ctx;
	struct err err = { 0 };
	int r = changes_init(&none, m->run);

	if (r == 0)
		r = run_open_context(m->run,
				     (struct context_spec){ .kind = CONTEXT_READONLY,
							    .name = "toolset",
							    .below = none.state },
				     &ctx, &err);
	if (r < 0)
		return run_fail(m->run, "AGENT_ERROR", &err);
	r = ask_program(m, ctx);
	(void)!changes_adopt(&none, ctx, false,
			     NULL); /* a toolset's program cannot change anything */
	return r;
}

/* Entries in their order */

static int add_toolset(struct agent_run *run, struct offer *offer, struct toolset *set)
{
	struct making m = { .run = run, .offer = offer, .set = set };

	return set->kind == TOOLSET_MCP ? add_of_server(&m) : add_of_program(&m);
}

/* Add the tools and the tools of toolsets. Both lists are in the order of the file's entries. */
static int add_entries(struct agent_run *run, struct offer *offer)
{
	const struct agent *agent = run->agent;
	size_t t = 0;
	size_t s = 0;
	int r = 0;

	while (r == 0 && (t < agent->tool_count || s < agent->toolset_count)) {
		bool is_set = t == agent->tool_count ||
			      (s < agent->toolset_count &&
			       agent->toolsets[s].index < agent->tool_index[t]);

		if (is_set)
			r = add_toolset(run, offer, &agent->toolsets[s++]);
		else
			r = add(run, offer, &agent->tools[t++]);
	}
	return r;
}

/* A tool takes the answer if the provider takes no schema beside tools. */
static bool needs_response_tool(const struct agent_run *run, const struct offer *offer)
{
	return run->agent->output_schema && offer->count && !output_is_native(run->agent);
}

int offer_make(struct agent_run *run, struct offer *out)
{
	int r;

	out->list = calloc(OFFER_MAX, sizeof(struct tool *));
	if (!out->list || find_targets(run->agent, out) < 0)
		return run_nomem(run);
	r = add_entries(run, out);
	if (r == 0 && out->target_count)
		r = add_builtin(run, out, TOOL_TRANSFER);
	if (r == 0 && needs_response_tool(run, out))
		r = add_builtin(run, out, TOOL_MODEL_RESPONSE);
	return r;
}
