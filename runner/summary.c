/*
 * Summaries: see summary.h.
 */
#include "runner/summary.h"

#include "runner/model/ask.h"

#include <errno.h>
#include <stdio.h>

/* The model of the root, or else of the first agent that has one. */
static const char *choose_model(const struct agent_tree *tree)
{
	const char *model = tree->root->model;
	size_t i;

	for (i = 0; !model && i < tree->count; i++)
		model = tree->agents[i]->model;
	return model;
}

static int take_answer(const struct model_reply *reply, const char *model,
		       struct compact_summary *summary, struct err *err)
{
	const char *why = reply->error_message ? reply->error_message : reply->error_code;

	if (reply->error_code)
		return err_set(err, -EIO, "the model gave no summary: %s", why);
	tokens_add_json(&summary->tokens, buf_span(&reply->usage));
	(void)snprintf(summary->model, sizeof summary->model, "%s",
		       reply->model_version ? reply->model_version : model);
	if (reply->content)
		content_text(reply->content, &summary->text);
	return buf_check(&summary->text, err);
}

int summary_ask(void *arg, struct span prompt, struct compact_summary *summary, struct err *err)
{
	const struct summary_source *source = arg;
	const char *model = choose_model(source->tree);
	CLEANUP(content_free_p) struct content *content = content_new("user");
	CLEANUP(model_reply_release) struct model_reply reply = { 0 };
	struct question rq = { .folder = source->tree->folder,
			       .settings = source->tree->settings,
			       .system = "",
			       .contents = &content,
			       .count = 1 };
	int r;

	if (!content || content_add_text(content, prompt, false) < 0)
		return err_nomem(err);
	if (!model)
		return err_set(err, -ENXIO,
			       "no agent of the app has a model that could write a summary");
	atomic_fetch_add(source->model_calls, 1);
	r = model_ask(model, &rq, source->cancel, &reply, err);
	return r < 0 ? r : take_answer(&reply, model, summary, err);
}
