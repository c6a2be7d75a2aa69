/*
 * Walks: see walk.h.
 *
 * The first pass over the log finds the turn of each line and joins
 * neighbouring lines of a turn to stretches. The second pass visits the
 * stretches in the order of the turns.
 */
#include "fs/view/walk.h"

#include "store/session/log.h"
#include "store/turn/turn.h"
#include <errno.h>
#include <stdlib.h>

static const char *const names[WALK_MEMBERS] = {
	[WALK_CONTENT] = "content",
	[WALK_MODEL_VERSION] = "modelVersion",
	[WALK_ERROR_CODE] = "errorCode",
	[WALK_ERROR_MESSAGE] = "errorMessage",
	[WALK_CUSTOM_METADATA] = "customMetadata",
	[WALK_USAGE] = "usageMetadata",
	[WALK_INVOCATION] = "invocationId",
	[WALK_AUTHOR] = "author",
	[WALK_ACTIONS] = "actions",
};

/* A turn: the range of its lines and its id in ADK, by which a line finds its turn. */
struct turn_name {
	uint64_t n;
	uint64_t first;
	uint64_t last;
	uint64_t reach; /* the greatest `last` of this turn and all before it */
	char invocation[64];
};

/* Neighbouring lines of one turn. */
struct stretch {
	uint64_t n; /* the lines are shown with this turn; 0: before the first */
	bool own;   /* the lines belong to the turn */
	uint64_t from;
	uint64_t to;
};

struct index {
	struct buf names;     /* of struct turn_name */
	struct buf stretches; /* of struct stretch */
	uint64_t at;          /* offset of the line in the log */
	uint64_t n;           /* turn of the latest line that belongs to one */
	size_t hint;          /* place of that turn in names */
};

static void index_release(struct index *ix)
{
	buf_release(&ix->names);
	buf_release(&ix->stretches);
}

static int note_turn(void *arg, const struct turn_info *info)
{
	struct index *ix = arg;
	struct turn_name name = { info->n, info->first, info->last, info->last, "" };
	size_t count;
	const struct turn_name *list = BUF_LIST(struct turn_name, &ix->names, &count);

	if (count)
		name.reach = MAX(name.reach, list[count - 1].reach);
	memcpy(name.invocation, info->invocation, sizeof name.invocation);
	buf_add(&ix->names, &name, sizeof name);
	return buf_check(&ix->names, NULL);
}

/* The turns that begin at or before an offset are the first so many. */
static size_t begun_at(const struct index *ix, uint64_t at)
{
	size_t low = 0;
	size_t high;
	const struct turn_name *list = BUF_LIST(struct turn_name, &ix->names, &high);

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list[middle].first <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The number of the turn that the line at ix->at belongs to; 0: none. */
static uint64_t turn_of(struct index *ix, struct span invocation)
{
	size_t count;
	const struct turn_name *list = BUF_LIST(struct turn_name, &ix->names, &count);
	size_t i;

	for (i = ix->hint; i < count && i < ix->hint + 2; i++) {
		if (span_is(invocation, list[i].invocation)) {
			ix->hint = i;
			return list[i].n;
		}
	}
	i = invocation.len ? begun_at(ix, ix->at) : 0;
	while (i-- > 0 && ix->at < list[i].reach) {
		if (ix->at < list[i].last && span_is(invocation, list[i].invocation)) {
			ix->hint = i;
			return list[i].n;
		}
	}
	return 0;
}

static int find_invocation(void *arg, struct span key, struct span value)
{
	if (!span_is(key, names[WALK_INVOCATION]))
		return 0;
	return json_unquote(value, arg) < 0 ? -EIO : 1;
}

static int note_line(void *arg, struct span line)
{
	struct index *ix = arg;
	CLEANUP(buf_release) struct buf invocation = { 0 };
	struct stretch stretch = { .from = ix->at, .to = ix->at + line.len + 1 };
	size_t count;
	struct stretch *stretches = BUF_LIST(struct stretch, &ix->stretches, &count);
	struct stretch *last = count ? &stretches[count - 1] : NULL;
	uint64_t n;
	int r = json_each(line, find_invocation, &invocation);

	if (r < 0)
		return r;
	n = turn_of(ix, buf_span(&invocation));
	ix->n = stretch.n = n ? n : ix->n;
	stretch.own = n;
	if (last && last->n == stretch.n && last->own == stretch.own)
		last->to = stretch.to;
	else
		buf_add(&ix->stretches, &stretch, sizeof stretch);
	ix->at = stretch.to;
	return buf_check(&ix->stretches, NULL);
}

static int by_turn(const void *a, const void *b)
{
	const struct stretch *x = a;
	const struct stretch *y = b;

	if (x->n != y->n)
		return x->n < y->n ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

/* The second pass. */
struct visit {
	struct store *st;
	struct ref session;
	const struct walk *walk;
	struct walk_turn turn;
	struct walk_event event;
	const char *only; /* invocation of the lines to visit; NULL: all lines */
	struct err *err;
};

static void visit_release(struct visit *v)
{
	free(v->turn.calls);
}

static int note_call(void *arg, const struct call_info *info)
{
	buf_add(arg, info, sizeof *info);
	return buf_check(arg, NULL);
}

static int enter_turn(struct visit *v, uint64_t n)
{
	struct buf calls = { 0 };
	int r = turn_stat(v->st, v->session, n, &v->turn.info, v->err);

	if (r == 0)
		r = call_list(v->st, v->session, (struct call_place){ .n = n }, note_call, &calls,
			      v->err);
	free(v->turn.calls);
	v->turn.calls = BUF_LIST(struct call_info, &calls, &v->turn.call_count);
	if (r == 0 && v->walk->turn)
		r = v->walk->turn(v->walk->arg, &v->turn);
	return r;
}

static int pick_member(void *arg, struct span key, struct span value)
{
	struct walk_event *e = arg;
	size_t i;

	for (i = 0; i < WALK_MEMBERS; i++) {
		if (span_is(key, names[i])) {
			e->member[i] = value;
			break;
		}
	}
	return 0;
}

static int visit_line(void *arg, struct span line)
{
	struct visit *v = arg;
	struct walk_event *e = &v->event;
	CLEANUP(buf_release) struct buf invocation = { 0 };
	int r;

	memset(e->member, 0, sizeof e->member);
	r = json_each(line, pick_member, e);
	if (r == 0 && v->only)
		r = json_unquote(e->member[WALK_INVOCATION], &invocation);
	if (r < 0)
		return r;
	if (v->walk->event && (!v->only || span_is(buf_span(&invocation), v->only)))
		r = v->walk->event(v->walk->arg, e);
	e->at += line.len + 1;
	return r;
}

static int visit_stretch(struct visit *v, const struct stretch *stretch)
{
	int r = 0;

	if (stretch->n && stretch->n != v->turn.info.n)
		r = enter_turn(v, stretch->n);
	v->event.turn = stretch->own ? &v->turn : NULL;
	v->event.at = stretch->from;
	if (r == 0 && v->walk->event)
		r = session_lines(v->st,
				  (struct log_range){ v->session, stretch->from, stretch->to },
				  visit_line, v, v->err);
	return r;
}

int walk_session(struct store *st, struct ref session, const struct walk *walk, struct err *err)
{
	CLEANUP(index_release) struct index ix = { 0 };
	CLEANUP(visit_release)
	struct visit v = { .st = st, .session = session, .walk = walk, .err = err };
	struct scope_info info;
	struct stretch *stretches;
	size_t count;
	size_t i;
	int r = scope_stat(st, session, &info, err);

	if (r == 0)
		r = turn_list(st, session, 0, note_turn, &ix, err);
	if (r == 0)
		r = session_lines(st, (struct log_range){ session, 0, info.log_size }, note_line,
				  &ix, err);
	stretches = BUF_LIST(struct stretch, &ix.stretches, &count);
	if (r == 0 && count)
		qsort(stretches, count, sizeof *stretches, by_turn);
	for (i = 0; r == 0 && i < count; i++)
		r = visit_stretch(&v, &stretches[i]);
	return r;
}

int walk_one_turn(struct store *st, struct ref session, uint64_t n, const struct walk *walk,
		  struct err *err)
{
	CLEANUP(visit_release)
	struct visit v = { .st = st, .session = session, .walk = walk, .err = err };
	struct stretch stretch = { .n = n, .own = true };
	int r = turn_stat(st, session, n, &v.turn.info, err);

	if (r < 0)
		return r;
	stretch.from = v.turn.info.first;
	stretch.to = v.turn.info.last;
	v.only = v.turn.info.invocation;
	v.turn.info.n = 0; /* so that visit_stretch() enters the turn */
	return visit_stretch(&v, &stretch);
}
