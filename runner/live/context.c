/*
 * Contexts: see context.h.
 */
#include "runner/live/context.h"

#include "base/clock.h"
#include "base/json_text.h"
#include "base/name.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define NAMELESS "call" /* the name below context/ of a call whose id cannot be one */

void contexts_init(struct contexts *all, struct store *st)
{
	*all = (struct contexts){ .store = st };
	mutex_init(&all->lock);
	cond_init(&all->idle);
}

void contexts_release(struct contexts *all)
{
	cond_release(&all->idle);
	mutex_release(&all->lock);
}

static void context_free(struct context *c)
{
	free(c->name);
	free(c->invocation);
	free(c->agent);
	free(c->app_id);
	free(c->user_id);
	free(c->session_id);
	free(c->call_id);
	buf_release(&c->user_content);
	buf_release(&c->args);
	buf_release(&c->actions);
	json_decref(c->items);
	stateview_free(c->state);
	mutex_release(&c->lock);
	free(c);
}

struct context *context_ref(struct context *c)
{
	atomic_fetch_add(&c->refs, 1);
	return c;
}

void context_unref(struct context *c)
{
	if (c && atomic_fetch_sub(&c->refs, 1) == 1)
		context_free(c);
}

static int copy(const char *text, char **out, struct err *err)
{
	if (!text)
		return 0;
	*out = strdup(text);
	return *out ? 0 : err_nomem(err);
}

/* Copy the ids of the app, the user and the session. */
static int copy_ids(struct context *c, struct store *st, struct err *err)
{
	struct scopes scopes;
	int r = scope_stat_all(st, c->session, &scopes, err);

	if (r == 0)
		r = copy(scopes.session.id, &c->session_id, err);
	if (r == 0)
		r = copy(scopes.user.id, &c->user_id, err);
	return r < 0 ? r : copy(scopes.app.id, &c->app_id, err);
}

/* Whether the turn has a directory of that name, with or without a dot and a number after it. */
static bool can_be_name(const char *id)
{
	CLEANUP(buf_release) struct buf name = { 0 };

	return name_encode(span_of(id), NAME_PLAIN, &name, NULL) == 0 &&
	       name.len + strlen(".4294967295") <= NAME_LEN_MAX;
}

static int fill(struct context *c, struct contexts *all, const struct context_spec *spec,
		struct err *err)
{
	int r = copy_ids(c, all->store, err);

	if (r == 0)
		r = copy(can_be_name(spec->name) ? spec->name : NAMELESS, &c->name, err);
	if (r == 0)
		r = copy(spec->invocation, &c->invocation, err);
	if (r == 0)
		r = copy(spec->agent, &c->agent, err);
	if (r == 0)
		r = copy(spec->call_id, &c->call_id, err);
	buf_span_add(&c->user_content, spec->user_content);
	buf_span_add(&c->args, spec->args);
	buf_text(&c->actions, "{}");
	if (r == 0)
		r = buf_check(&c->user_content, err);
	if (r == 0)
		r = buf_check(&c->args, err);
	if (r == 0)
		r = buf_check(&c->actions, err);
	if (r < 0)
		return r;
	c->state = stateview_new(spec->below, NULL);
	c->items = json_object();
	c->number = store_new_number(all->store, err);
	if (!c->state || !c->items)
		return err_nomem(err);
	return c->number ? 0 : -EIO;
}

static struct context **find_locked(struct contexts *all, struct ref session, uint64_t turn,
				    const char *name) REQUIRES(all->lock)
{
	struct context **at = &all->first;

	while (*at && ((*at)->session.session != session.session || (*at)->turn != turn ||
		       strcmp((*at)->name, name) != 0))
		at = &(*at)->next;
	return at;
}

/* Make the name unique: models may repeat an id in a turn, which is followed by a number then. */
static int enter(struct contexts *all, struct context *c, struct err *err)
{
	char *plain = c->name;
	unsigned i = 2;
	int r = 0;

	mutex_lock(&all->lock);
	while (r == 0 && *find_locked(all, c->session, c->turn, c->name)) {
		char *name;

		if (asprintf(&name, "%s.%u", plain, i++) < 0) {
			r = err_nomem(err);
			break;
		}
		if (c->name != plain)
			free(c->name);
		c->name = name;
	}
	if (r == 0) {
		c->next = all->first;
		all->first = c;
	}
	mutex_unlock(&all->lock);
	if (c->name != plain)
		free(plain);
	return r;
}

int context_open(struct contexts *all, const struct context_spec *spec, struct context **out,
		 struct err *err)
{
	struct context *c = calloc(1, sizeof *c);
	int r;

	if (!c)
		return err_nomem(err);
	c->all = all;
	c->kind = spec->kind;
	c->store = all->store;
	c->session = spec->session;
	c->turn = spec->turn;
	c->stamp = (uint64_t)clock_now() * 1000;
	atomic_init(&c->refs, 1);
	mutex_init(&c->lock);
	r = fill(c, all, spec, err);
	if (r == 0)
		r = enter(all, c, err);
	if (r < 0) {
		context_unref(c);
		return r;
	}
	*out = c;
	return 0;
}

void context_end(struct contexts *all, struct context *c)
{
	struct context **at;

	atomic_store(&c->has_ended, true);
	mutex_lock(&all->lock);
	for (at = &all->first; *at && *at != c; at = &(*at)->next)
		;
	if (*at)
		*at = c->next;
	while (c->users)
		cond_wait(&all->idle, &all->lock);
	mutex_unlock(&all->lock);
	context_unref(c);
}

struct context *context_find(struct contexts *all, struct ref session, uint64_t turn,
			     const char *name)
{
	struct context *c;

	mutex_lock(&all->lock);
	c = *find_locked(all, session, turn, name);
	if (c)
		(void)context_ref(c);
	mutex_unlock(&all->lock);
	return c;
}

struct context *context_use(struct contexts *all, uint64_t number)
{
	struct context *c;

	mutex_lock(&all->lock);
	for (c = all->first; c && c->number != number; c = c->next)
		;
	if (c)
		c->users++;
	mutex_unlock(&all->lock);
	return c;
}

void context_leave(struct context *c)
{
	struct contexts *all;
	bool is_last;

	if (!c)
		return;
	all = c->all;
	mutex_lock(&all->lock);
	is_last = !--c->users;
	mutex_unlock(&all->lock);
	if (is_last) /* from here on c may be gone */
		cond_wake_all(&all->idle);
}

/* The context of the turn with the lowest number above `after`, one reference. */
static struct context *next_after(struct contexts *all, struct ref session, uint64_t turn,
				  uint64_t after)
{
	struct context *best = NULL;
	struct context *c;

	mutex_lock(&all->lock);
	for (c = all->first; c; c = c->next) {
		if (c->session.session == session.session && c->turn == turn && c->number > after &&
		    (!best || c->number < best->number))
			best = c;
	}
	if (best)
		(void)context_ref(best);
	mutex_unlock(&all->lock);
	return best;
}

int context_list(struct contexts *all, struct ref session, uint64_t turn, uint64_t after,
		 context_fn *fn, void *arg)
{
	struct context *c;
	int r = 0;

	while (r == 0 && (c = next_after(all, session, turn, after))) {
		after = c->number;
		r = fn(arg, c);
		context_unref(c);
	}
	return r;
}

int context_actions(struct context *c, struct buf *out)
{
	mutex_lock(&c->lock);
	buf_span_add(out, buf_span(&c->actions));
	mutex_unlock(&c->lock);
	return buf_check(out, NULL);
}

/* A member of actions.json. */
static const struct action {
	const char *name;
	const char *snake;
	bool is_text;
} actions[] = {
	{ "transferToAgent", "transfer_to_agent", true },
	{ "escalate", "escalate", false },
	{ "skipSummarization", "skip_summarization", false },
};

struct setting {
	struct buf *out;
	struct err *err;
};

static int take_action(void *arg, struct span key, struct span value)
{
	struct setting *s = arg;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(actions); i++) {
		if (span_is(key, actions[i].name) || span_is(key, actions[i].snake))
			break;
	}
	if (i == ARRAY_SIZE(actions))
		return err_set(s->err, -EINVAL,
			       "'%.*s' is not one of transferToAgent, escalate, skipSummarization",
			       (int)MIN(key.len, 80), key.data);
	if (span_is(value, "null"))
		return 0;
	if (actions[i].is_text ? value.data[0] != '"'
			       : !span_is(value, "true") && !span_is(value, "false"))
		return err_set(s->err, -EINVAL, "%s must be %s", actions[i].name,
			       actions[i].is_text ? "the name of an agent" : "true or false");
	buf_char(s->out, s->out->len > 1 ? ',' : ' ');
	buf_printf(s->out, "\"%s\":", actions[i].name);
	buf_span_add(s->out, value);
	return 0;
}

/* Check a member by the row of its name. */
static int take_actions(struct span object, struct buf *clean, struct err *err)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	struct setting s = { &text, err };
	int r;

	buf_char(&text, '{');
	r = json_each(object, take_action, &s);
	buf_char(&text, '}');
	if (r == 0)
		r = buf_check(&text, err);
	return r < 0 || !clean ? r
			       : json_canonical_text(buf_span(&text), JSON_DEPTH_FREE, clean, err);
}

int context_check_actions(struct span json, struct buf *clean, struct err *err)
{
	CLEANUP(buf_release) struct buf canonical = { 0 };
	struct json_scan s = json_scan_of(json, JSON_DEPTH_FREE, err);
	int r = json_peek(&s);

	if (r >= 0 && r != '{')
		r = err_set(err, -EINVAL, "actions.json must be an object");
	if (r >= 0)
		r = json_canonical_text(json, JSON_DEPTH_FREE, &canonical, err);
	return r < 0 ? r : take_actions(buf_span(&canonical), clean, err);
}

int context_set_actions(struct context *c, struct span json, struct err *err)
{
	struct buf clean = { 0 };
	int r = context_check_actions(json, &clean, err);

	if (r < 0) {
		buf_release(&clean);
		return r == -ENODATA ? -EINVAL : r;
	}
	mutex_lock(&c->lock);
	buf_release(&c->actions);
	c->actions = clean;
	mutex_unlock(&c->lock);
	return 0;
}

static uint64_t item_locked(struct context *c, struct span key) REQUIRES(c->lock)
{
	return (uint64_t)json_integer_value(json_object_getn(c->items, key.data, key.len));
}

uint64_t context_item(struct context *c, struct span key)
{
	uint64_t number;
	uint64_t fresh;

	mutex_lock(&c->lock);
	number = item_locked(c, key);
	mutex_unlock(&c->lock);
	if (number)
		return number;
	fresh = store_new_number(c->store, NULL);
	mutex_lock(&c->lock);
	number = item_locked(c, key); /* another thread may have been quicker */
	if (!number && fresh &&
	    !json_object_setn_new(c->items, key.data, key.len, json_integer((json_int_t)fresh)))
		number = fresh;
	mutex_unlock(&c->lock);
	return number;
}
