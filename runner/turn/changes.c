/*
 * Changes: see changes.h.
 */
#include "runner/turn/changes.h"

#include "base/json_merge.h"
#include "runner/turn/run.h"

#include <errno.h>

int changes_init(struct changes *c, struct agent_run *run)
{
	*c = (struct changes){ .in = run->sink->in,
			       .state = stateview_new(run->sink->state, NULL) };
	return c->state ? 0 : -ENOMEM;
}

void changes_close(struct changes *c, bool published)
{
	const struct turn_hooks *hooks = c->in->host->hooks;
	size_t n;
	struct context **list = BUF_LIST(struct context *, &c->contexts, &n);
	size_t i;

	for (i = 0; i < n; i++) {
		if (hooks->context_closed)
			hooks->context_closed(hooks->arg, list[i], published);
		context_unref(list[i]);
	}
	buf_release(&c->contexts);
	buf_release(&c->saves);
}

void changes_release(struct changes *c)
{
	if (!c->in)
		return;
	changes_close(c, false);
	buf_release(&c->actions);
	stateview_free(c->state);
	*c = (struct changes){ 0 };
}

bool changes_any(struct changes *c)
{
	return stateview_count(c->state) || c->saves.len || c->actions.len;
}

int changes_act(struct changes *c, const char *name, struct span json)
{
	struct buf *actions = &c->actions;

	if (actions->len > 1) {
		actions->len--; /* the bracket */
		buf_char(actions, ',');
	} else {
		buf_clear(actions);
		buf_char(actions, '{');
	}
	json_quote(actions, span_of(name));
	buf_char(actions, ':');
	buf_span_add(actions, json);
	buf_char(actions, '}');
	return buf_check(actions, NULL);
}

/* Add a member; false is left out, so that a true of an earlier change stays. */
static int add_set(void *arg, struct span key, struct span value)
{
	struct buf *out = arg;

	if (span_is(value, "false"))
		return 0;
	buf_char(out, out->len ? ',' : '{');
	json_quote(out, key);
	buf_char(out, ':');
	buf_span_add(out, value);
	return 0;
}

static int merge_actions(struct changes *c, struct span actions)
{
	CLEANUP(buf_release) struct buf added = { 0 };
	CLEANUP(buf_release) struct buf merged = { 0 };
	struct buf old = c->actions;
	int r = json_each(actions, add_set, &added);

	if (r < 0 || (!added.len && !added.failed))
		return r;
	buf_char(&added, '}');
	r = buf_check(&added, NULL);
	if (r == 0)
		r = json_merge(buf_span(&c->actions), buf_span(&added), &merged);
	if (r < 0)
		return r;
	c->actions = merged;
	merged = old;
	return 0;
}

static int take_actions(struct changes *c, struct context *ctx)
{
	CLEANUP(buf_release) struct buf actions = { 0 };
	int r = context_actions(ctx, &actions);

	return r < 0 ? r : merge_actions(c, buf_span(&actions));
}

bool save_refused(int code)
{
	static const int codes[] = { -EINVAL, -ENAMETOOLONG, -ENOTDIR, -EISDIR,
				     -EFBIG,  -ENOSPC,       -EDQUOT,  -EEXIST };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(codes); i++) {
		if (code == codes[i])
			return true;
	}
	return false;
}

/* Take the saves first: only they may be refused, and then nothing was taken. */
static int adopt_all(struct changes *c, struct context *ctx, struct err *err)
{
	CLEANUP(buf_release) struct buf saves = { 0 };
	const struct turn_hooks *hooks = c->in->host->hooks;
	int r = hooks->context_saves ? hooks->context_saves(hooks->arg, ctx, &saves, err) : 0;

	if (r == 0)
		r = stateview_lay(c->state, ctx->state, err);
	if (r == 0)
		r = take_actions(c, ctx);
	if (r < 0)
		return r;
	buf_span_add(&c->saves, buf_span(&saves));
	if (!c->saves.failed)
		buf_add(&c->contexts, &ctx, sizeof(struct context *));
	return c->saves.failed || c->contexts.failed ? -ENOMEM : 0;
}

int changes_adopt(struct changes *c, struct context *ctx, bool succeeded, struct err *err)
{
	const struct turn_hooks *hooks = c->in->host->hooks;
	int r = 0;

	(void)context_ref(ctx);
	context_end(c->in->host->contexts, ctx);
	if (succeeded)
		r = adopt_all(c, ctx, err);
	if (r == 0 && succeeded)
		return 0;
	if (hooks->context_closed)
		hooks->context_closed(hooks->arg, ctx, false);
	context_unref(ctx);
	return r == -ENOMEM ? err_nomem(err) : r;
}

int changes_merge(struct changes *c, const struct changes *others, struct err *err)
{
	int r = stateview_merge(c->state, others->state, err);

	if (r == 0 && others->actions.len)
		r = merge_actions(c, buf_span(&others->actions));
	buf_span_add(&c->saves, buf_span(&others->saves));
	buf_span_add(&c->contexts, buf_span(&others->contexts));
	if (r == 0 && (c->saves.failed || c->contexts.failed))
		r = -ENOMEM;
	return r == -ENOMEM ? err_nomem(err) : r;
}

void changes_forget(struct changes *c)
{
	c->contexts.len = 0;
	c->saves.len = 0;
}

/* Members of the actions that programs and built-in tools set. */
static const struct action_name {
	const char *name;
	enum action_member which;
} action_names[] = {
	{ "transferToAgent", ACTION_TRANSFER },
	{ "escalate", ACTION_ESCALATE },
	{ "skipSummarization", ACTION_SKIP_SUMMARIZATION },
	{ "requestedToolConfirmations", ACTION_CONFIRMATIONS },
};

static int write_action(void *arg, struct span key, struct span value)
{
	struct event *e = arg;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(action_names); i++) {
		if (span_is(key, action_names[i].name) && !span_is(value, "false"))
			event_set_action(e, action_names[i].which, value);
	}
	return 0;
}

int changes_write(struct changes *c, struct event *e, struct turn_commit *commit)
{
	int r = stateview_write(c->state, e);

	if (r == 0 && c->actions.len)
		r = json_each(buf_span(&c->actions), write_action, e);
	commit->saves = BUF_LIST(struct save, &c->saves, &commit->save_count);
	return r;
}
