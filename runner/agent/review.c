/*
 * Reviews of agents: what the provider of an agent's model will refuse, or send
 * otherwise than the file says.
 */
#include "runner/model/review.h"
#include "runner/agent/file.h"
#include "runner/agent/request.h"

#include <errno.h>
#include <stdlib.h>

struct review {
	struct agent_file *file;
	struct question q;
	struct model_tool *tools;
	json_t *config;
};

static void review_release(struct review *v)
{
	free(v->tools);
	json_decref(v->config);
}

static int warn_of_model(void *arg, const char *sentence)
{
	struct review *v = arg;

	return agent_file_warn(v->file, "model", "%s", sentence);
}

/* Review the agent again when the file of its model has changed. */
static int note_file(const struct review *v)
{
	CLEANUP(buf_release) struct buf name = { 0 };

	if (!v->q.provider->is_file)
		return 0;
	buf_add(&name, v->q.name, strcspn(v->q.name, "?"));
	if (!buf_cstr(&name))
		return err_nomem(v->file->ld->err);
	(void)!folder_note(&v->file->ld->folder, name.data,
			   NULL); /* a file that cannot be read is not watched */
	return 0;
}

/* List the tools of the files; toolsets would have to be asked for theirs. */
static int list_tools(struct review *v)
{
	const struct agent *agent = v->file->agent;
	size_t i;

	v->tools = calloc(agent->tool_count + 1, sizeof *v->tools);
	if (!v->tools)
		return err_nomem(v->file->ld->err);
	for (i = 0; i < agent->tool_count; i++)
		v->q.tool_count += agent_declare(&agent->tools[i], &v->tools[v->q.tool_count]);
	v->q.tools = v->tools;
	return 0;
}

static int make_config(struct review *v)
{
	bool shaped = v->q.provider->schema_with_tools || !v->q.tool_count;

	if (agent_config(v->file->agent, shaped, &v->config) < 0)
		return err_nomem(v->file->ld->err);
	v->q.config = v->config;
	return 0;
}

int agent_review(struct agent_file *file)
{
	CLEANUP(review_release) struct review v = { .file = file };
	const struct agent_tree *tree = file->ld->tree;
	int r;

	if (file->agent->kind != AGENT_LLM ||
	    model_find(file->agent->model, &v.q.provider, &v.q.name, NULL) < 0)
		return 0;
	v.q.folder = tree->folder;
	v.q.settings = tree->settings;
	v.q.provider = model_settle(&v.q);
	r = note_file(&v);
	if (r == 0)
		r = list_tools(&v);
	if (r == 0)
		r = make_config(&v);
	if (r == 0)
		r = model_review(&v.q, warn_of_model, &v);
	return r == -ENOMEM ? err_nomem(file->ld->err) : r;
}
