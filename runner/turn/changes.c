/*
 * Changes that wait for their event: see run.h.
 */
#include "runner/turn/run.h"

#include "base/json_merge.h"

#include <errno.h>

int changes_init_above(struct changes *c, struct invocation *in, struct stateview *below)
{
	*c = (struct changes){ .in = in, .state = stateview_new(below, NULL) };
	return c->state ? 0 : -ENOMEM;
}

int changes_init(struct changes *c, struct agent_run *run)
{
	return changes_init_above(c, run->sink->in, run->sink->state);
}

static size_t held_count(const struct changes *c)
{
	return c->held.len / sizeof(struct context *);
}

static struct context *held_at(const struct changes *c, size_t i)
{
	struct context *ctx;

	memcpy(&ctx, c->held.data + i * sizeof ctx, sizeof ctx);
	return ctx;
}

void changes_close(struct changes *c, bool published)
{
	const struct turn_hooks *hooks = c->in->host->hooks;
	size_t i;

	for (i = 0; i < held_count(c); i++) {
		struct context *ctx = held_at(c, i);

		if (hooks->context_closed)
			hooks->context_closed(hooks->arg, ctx, published);
		context_unref(ctx);
	}
	buf_release(&c->held);
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

/* A flag that is not set says nothing: true counts, whoever said it. */
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
	CLEANUP(buf_release) struct buf said = { 0 };
	CLEANUP(buf_release) struct buf merged = { 0 };
	struct buf old = c->actions;
	int r = json_each(actions, add_set, &said);

	if (r < 0 || (!said.len && !said.failed))
		return r;
	buf_char(&said, '}');
	r = buf_check(&said, NULL);
	if (r == 0)
		r = json_merge(buf_span(&c->actions), buf_span(&said), &merged);
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

/* The saves first: only they may be refused, and then nothing was taken. */
static int take_all(struct changes *c, struct context *ctx, struct err *err)
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
		buf_add(&c->held, &ctx, sizeof(struct context *));
	return c->saves.failed || c->held.failed ? -ENOMEM : 0;
}

int changes_take(struct changes *c, struct context *ctx, bool succeeded, struct err *err)
{
	const struct turn_hooks *hooks = c->in->host->hooks;
	int r = 0;

	(void)context_ref(ctx);
	context_end(c->in->host->contexts, ctx);
	if (succeeded)
		r = take_all(c, ctx, err);
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
	buf_span_add(&c->held, buf_span(&others->held));
	if (r == 0 && (c->saves.failed || c->held.failed))
		r = -ENOMEM;
	return r == -ENOMEM ? err_nomem(err) : r;
}

void changes_forget(struct changes *c)
{
	c->held.len = 0;
	c->saves.len = 0;
}

struct stateview *run_state(const struct agent_run *run)
{
	return run->waiting.in ? run->waiting.state : run->sink->state;
}

int run_open_context(struct agent_run *run, enum context_kind kind, const char *name,
		     const char *call_id, struct span args, struct stateview *below,
		     struct context **out, struct err *err)
{
	struct invocation *in = run->sink->in;
	const struct turn_hooks *hooks = in->host->hooks;
	struct context_spec spec = {
		.kind = kind,
		.session = in->live->ref,
		.turn = in->live->n,
		.name = name,
		.invocation = in->live->invocation,
		.agent = run->agent->name,
		.call_id = call_id,
		.user_content = run->sink->message,
		.args = args,
		.below = below,
	};
	int r = context_open(in->host->contexts, &spec, out, err);

	if (r == 0 && hooks->context_opened)
		hooks->context_opened(hooks->arg, *out);
	return r;
}
