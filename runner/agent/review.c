/*
 * Reviews of agents: see review.h.
 */
#include "runner/agent/review.h"

#include "base/net/http.h"
#include "runner/agent/request.h"
#include "runner/model/settings.h"

#include <errno.h>
#include <stdlib.h>

struct review {
	struct agent_file *file;
	struct model_request rq;
	struct model_tool *tools;
	json_t *config;
};

static void review_release(struct review *v)
{
	free(v->tools);
	json_decref(v->config);
}

static int warn(void *arg, const char *sentence)
{
	struct review *v = arg;

	return agent_file_warn(v->file, "model", "%s", sentence);
}

/* What is said of a file is said again when it has changed. */
static int note_file(const struct review *v)
{
	CLEANUP(buf_release) struct buf name = { 0 };

	if (!v->rq.provider->is_file)
		return 0;
	buf_add(&name, v->rq.name, strcspn(v->rq.name, "?"));
	if (!buf_cstr(&name))
		return err_nomem(v->file->ld->err);
	(void)!folder_note(&v->file->ld->folder, name.data, NULL); /* or it cannot be looked at */
	return 0;
}

/* The tools that are known without asking anybody. */
static int list_tools(struct review *v)
{
	const struct agent *agent = v->file->agent;
	size_t i;

	v->tools = calloc(agent->tool_count + 1, sizeof *v->tools);
	if (!v->tools)
		return err_nomem(v->file->ld->err);
	for (i = 0; i < agent->tool_count; i++)
		v->rq.tool_count += agent_declare(&agent->tools[i], &v->tools[v->rq.tool_count]);
	v->rq.tools = v->tools;
	return 0;
}

static int make_config(struct review *v)
{
	bool shaped = v->rq.provider->schema_with_tools || !v->rq.tool_count;

	if (agent_config(v->file->agent, shaped, &v->config) < 0)
		return err_nomem(v->file->ld->err);
	v->rq.config = v->config;
	return 0;
}

/* What does not depend on the conversation is refused now as it would be later. */
static int try_encoding(struct review *v)
{
	CLEANUP(content_free_p) struct content *hello = content_new("user");
	CLEANUP(http_request_release) struct http_request http = { 0 };
	struct err reason = { 0 };
	int r = hello ? content_add_text(hello, SPAN("hello"), false) : -ENOMEM;

	if (r < 0)
		return err_nomem(v->file->ld->err);
	v->rq.contents = &hello;
	v->rq.count = 1;
	r = v->rq.provider->encode(&v->rq, &http, &reason);
	if (r == 0)
		r = model_settings_apply(v->rq.provider, v->rq.settings, &http, &reason);
	if (r == -ENOMEM)
		return err_nomem(v->file->ld->err);
	return r == -EINVAL ? warn(v, reason.text) : 0;
}

int agent_review(struct agent_file *file)
{
	CLEANUP(review_release) struct review v = { .file = file };
	const struct agent_tree *tree = file->ld->tree;
	int r;

	if (file->agent->kind != AGENT_LLM ||
	    model_find(file->agent->model, &v.rq.provider, &v.rq.name, NULL) < 0)
		return 0;
	v.rq.folder = tree->folder;
	v.rq.settings = tree->settings;
	v.rq.provider = model_settle(&v.rq);
	r = note_file(&v);
	if (r == 0)
		r = list_tools(&v);
	if (r == 0)
		r = make_config(&v);
	if (r == 0 && v.rq.provider->review)
		r = v.rq.provider->review(&v.rq, warn, &v);
	return r < 0 || !v.rq.provider->encode ? r : try_encoding(&v);
}
