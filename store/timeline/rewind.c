/*
 * Rewind: see rewind.h.
 */
#include "store/timeline/rewind.h"

#include "base/clock.h"
#include "store/artifact/artifact.h"
#include "store/session/log.h"
#include "store/session/mark.h"
#include "store/session/state.h"
#include "store/timeline/replay.h"
#include "store/turn/turn.h"
#include "store/tx/key.h"
#include "store/tx/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct rewound_turn {
	char invocation[64];
	uint64_t n;
	uint64_t first; /* where it begins in the log */
};

struct rewound_range {
	uint64_t first; /* turns from here... */
	uint64_t last;  /* ...to here */
	uint64_t from;  /* lines without a turn from this offset... */
	uint64_t to;    /* ...to before this one */
};

void rewound_release(struct rewound *rw)
{
	buf_release(&rw->turns);
	buf_release(&rw->ranges);
}

static struct rewound_turn *turns_of(const struct rewound *rw, size_t *count)
{
	return BUF_LIST(struct rewound_turn, &rw->turns, count);
}

static size_t count_ranges(const struct rewound *rw)
{
	return rw->ranges.len / sizeof(struct rewound_range);
}

static int compare_turns(const void *a, const void *b)
{
	return strcmp(((const struct rewound_turn *)a)->invocation,
		      ((const struct rewound_turn *)b)->invocation);
}

static const struct rewound_turn *turn_of(const struct rewound *rw, struct span invocation)
{
	struct rewound_turn key;
	size_t count;
	struct rewound_turn *turns = turns_of(rw, &count);

	if (!count || invocation.len >= sizeof key.invocation)
		return NULL;
	memcpy(key.invocation, invocation.data, invocation.len);
	key.invocation[invocation.len] = 0;
	return bsearch(&key, turns, count, sizeof key, compare_turns);
}

/* Whether one of the first n ranges undoes the line. */
static bool hidden_by(const struct rewound *rw, size_t n, struct span invocation, uint64_t at)
{
	const struct rewound_range *range = BUF_LIST(struct rewound_range, &rw->ranges, NULL);
	const struct rewound_turn *turn = turn_of(rw, invocation);
	bool hidden = false;

	for (; n-- && !hidden; range++) {
		if (turn)
			hidden = range->first <= turn->n && turn->n <= range->last;
		else
			hidden = range->from <= at && at < range->to;
	}
	return hidden;
}

bool rewound_hides(const struct rewound *rw, struct span invocation, uint64_t at)
{
	return hidden_by(rw, count_ranges(rw), invocation, at);
}

/* The invocation of a stored line. */
static int invocation_of(struct span line, struct buf *out)
{
	struct span token;
	int r = json_member(line, "invocationId", &token);

	buf_clear(out);
	if (r == 0)
		r = json_unquote(token, out);
	return r == -ENOENT ? 0 : r;
}

/* A search for the first line of an invocation without a turn. */
struct search {
	const struct rewound *rw;
	struct span invocation;
	uint64_t at; /* offset of the next line */
};

static int find_line(void *arg, struct span line)
{
	struct search *s = arg;
	CLEANUP(buf_release) struct buf found = { 0 };
	uint64_t at = s->at;
	int r = 0;

	if (memmem(line.data, line.len, s->invocation.data, s->invocation.len)) {
		r = invocation_of(line, &found);
		if (r == 0 && span_equal(buf_span(&found), s->invocation) &&
		    !rewound_hides(s->rw, s->invocation, at))
			return 1;
	}
	s->at += line.len + 1;
	return r;
}

/* Find the turns that begin in a range; 0 to 0: none. */
static void turns_between(const struct rewound *rw, struct rewound_range *range)
{
	size_t count;
	const struct rewound_turn *turns = turns_of(rw, &count);
	size_t i;

	for (i = 0; i < count; i++) {
		if (turns[i].first < range->from || turns[i].first >= range->to)
			continue;
		if (!range->first || turns[i].n < range->first)
			range->first = turns[i].n;
		range->last = MAX(range->last, turns[i].n);
	}
}

/* Add a rewind by an event that ends at `to`. -ENOENT: the rewind has no effect. */
static int add_range(struct rewound *rw, struct store *st, struct ref session,
		     struct span invocation, uint64_t to, struct err *err)
{
	struct rewound_range range = { .to = to };
	const struct rewound_turn *turn = turn_of(rw, invocation);
	struct search search = { rw, invocation, 0 };
	int r;

	if (!invocation.len)
		return -ENOENT;
	if (turn) {
		if (turn->first >= to || rewound_hides(rw, invocation, turn->first))
			return -ENOENT;
		range.from = turn->first;
	} else {
		r = session_lines(st, (struct log_range){ session, 0, to }, find_line, &search,
				  err);
		if (r <= 0)
			return r < 0 ? r : -ENOENT;
		range.from = search.at;
	}
	turns_between(rw, &range);
	buf_add(&rw->ranges, &range, sizeof range);
	return buf_check(&rw->ranges, err);
}

static int note_turn(void *arg, const struct turn_info *info)
{
	struct rewound *rw = arg;
	struct rewound_turn turn = { .n = info->n, .first = info->first };

	memcpy(turn.invocation, info->invocation, sizeof turn.invocation);
	buf_add(&rw->turns, &turn, sizeof turn);
	return buf_check(&rw->turns, NULL);
}

static int load_turns(struct rewound *rw, struct store *st, struct ref session, struct err *err)
{
	struct rewound_turn *turns;
	size_t count;
	int r = turn_list(st, session, 0, note_turn, rw, err);

	turns = turns_of(rw, &count);
	if (count)
		qsort(turns, count, sizeof *turns, compare_turns);
	return r;
}

struct loading {
	struct rewound *rw;
	struct store *st;
	struct ref session;
	struct err *err;
};

/* A line with a rewindBeforeInvocationId. */
static int take_line(void *arg, uint64_t at, struct span line)
{
	struct loading *l = arg;
	CLEANUP(buf_release) struct buf target = { 0 };
	struct span value;
	int r = json_member(line, "actions", &value);

	if (r == 0)
		r = json_member(value, "rewindBeforeInvocationId", &value);
	if (r == 0)
		r = json_unquote(value, &target);
	if (r == 0)
		r = add_range(l->rw, l->st, l->session, buf_span(&target), at + line.len + 1,
			      l->err);
	return r == -ENOENT ? 0 : r;
}

int rewound_load(struct rewound *rw, struct store *st, struct ref session,
		 const struct scope_info *info, struct err *err)
{
	struct loading l = { rw, st, session, err };
	int r;

	*rw = (struct rewound){ 0 };
	if (!info->rewinds)
		return 0;
	r = load_turns(rw, st, session, err);
	if (r == 0)
		r = mark_lines(st, (struct log_range){ session, 0, info->log_size }, ACTION_REWIND,
			       take_line, &l, err);
	return r;
}

/* A rewind while it is made. */
struct rewind {
	struct ref ref;
	struct span invocation;
	struct session_tx s;
	struct rewound rw;
	uint64_t at;        /* offset of the next line */
	struct replay left; /* outcome of the remaining lines */
	struct replay lost; /* outcome of the lines that this rewind undoes */
	struct buf delta;
	struct buf deleted;
	struct buf artifacts;
	struct err *err;
};

static void rewind_release(struct rewind *rewind)
{
	session_release(&rewind->s);
	rewound_release(&rewind->rw);
	replay_release(&rewind->left);
	replay_release(&rewind->lost);
	buf_release(&rewind->delta);
	buf_release(&rewind->deleted);
	buf_release(&rewind->artifacts);
}

static int sort_line(void *arg, struct span line)
{
	struct rewind *rewind = arg;
	CLEANUP(buf_release) struct buf invocation = { 0 };
	uint64_t at = rewind->at;
	size_t ranges = count_ranges(&rewind->rw);
	int r;

	rewind->at += line.len + 1;
	if (!replay_has_delta(line))
		return 0;
	r = invocation_of(line, &invocation);
	if (r < 0)
		return r;
	if (!rewound_hides(&rewind->rw, buf_span(&invocation), at))
		return replay_line(&rewind->left, line);
	if (hidden_by(&rewind->rw, ranges - 1, buf_span(&invocation), at))
		return 0; /* an earlier rewind undid it */
	return replay_line(&rewind->lost, line);
}

static void add_member(struct buf *out, struct span name, struct span value)
{
	buf_char(out, out->len ? ',' : '{');
	json_quote(out, name);
	buf_char(out, ':');
	buf_span_add(out, value);
}

static void add_deleted(struct rewind *rewind, struct span key)
{
	add_member(&rewind->delta, key, SPAN("null"));
	buf_text(&rewind->deleted, rewind->deleted.len ? "," : "{\"adkfs.deleted\":[");
	json_quote(&rewind->deleted, key);
}

static int note_key(void *arg, struct span key, const struct state_info *info)
{
	struct buf *keys = arg;

	(void)info;
	record_text(keys, key);
	return buf_check(keys, NULL);
}

/* Restore or delete a key that exists now. */
static int restore_key(struct rewind *rewind, struct span key)
{
	struct replay_item *item = replay_find(&rewind->left.keys, key);
	CLEANUP(buf_release) struct buf text = { 0 };
	CLEANUP(buf_release) struct buf canonical = { 0 };
	int r;

	if (!item || !item->text.len) {
		add_deleted(rewind, key);
		return 0;
	}
	item->seen = true;
	r = state_get(rewind->s.tx->st, rewind->ref, key, &text, NULL, rewind->err);
	if (r == 0)
		r = json_canonical_text(buf_span(&text), JSON_DEPTH_FREE, &canonical, rewind->err);
	if (r == 0 && !span_equal(buf_span(&canonical), buf_span(&item->text)))
		add_member(&rewind->delta, key, buf_span(&item->text));
	return r;
}

/* Restore a key that does not exist now. */
static int restore_missing(void *arg, struct replay_item *item)
{
	struct rewind *rewind = arg;

	if (item->text.len && !item->seen)
		add_member(&rewind->delta, (struct span){ item->name, item->len },
			   buf_span(&item->text));
	return 0;
}

static int restore_state(struct rewind *rewind)
{
	CLEANUP(buf_release) struct buf keys = { 0 };
	struct record_reader reader;
	int r = state_list(rewind->s.tx->st, rewind->ref, 0, note_key, &keys, rewind->err);

	reader = (struct record_reader){ .left = buf_span(&keys) };
	while (r == 0 && reader.left.len)
		r = restore_key(rewind, record_take_text(&reader));
	return r < 0 ? r : replay_each(&rewind->left.keys, restore_missing, rewind);
}

/* Restore or hide an artifact that an undone line changed. */
static int restore_artifact(void *arg, struct replay_item *item)
{
	struct rewind *rewind = arg;
	const struct replay_item *left = replay_find(&rewind->left.artifacts,
						     (struct span){ item->name, item->len });
	CLEANUP(buf_release) struct buf number = { 0 };
	uint64_t n = left ? left->version : 0;
	uint64_t made;
	int r = artifact_restore(&rewind->s, item->name, n, &made);

	if (r == -ENOENT && n) /* the old bytes are gone */
		r = artifact_restore(&rewind->s, item->name, 0, &made);
	if (r < 0)
		return r == -ENOENT ? 0 : r; /* it was deleted since */
	buf_printf(&number, "%llu", (unsigned long long)made);
	add_member(&rewind->artifacts, (struct span){ item->name, item->len }, buf_span(&number));
	return buf_check(&number, rewind->err);
}

static void fill_event(struct rewind *rewind, struct event *e)
{
	CLEANUP(buf_release) struct buf target = { 0 };
	char invocation[40];

	clock_new_id(invocation, "e-");
	event_set_text(e, EVENT_INVOCATION, span_of(invocation));
	event_set_text(e, EVENT_AUTHOR, SPAN("user"));
	json_quote(&target, rewind->invocation);
	event_set_action(e, ACTION_REWIND, buf_span(&target));
	if (rewind->delta.len) {
		buf_char(&rewind->delta, '}');
		event_set_action(e, ACTION_STATE_DELTA, buf_span(&rewind->delta));
	}
	if (rewind->deleted.len) {
		buf_text(&rewind->deleted, "]}");
		event_set_json(e, EVENT_CUSTOM_METADATA, buf_span(&rewind->deleted));
	}
	if (rewind->artifacts.len) {
		buf_char(&rewind->artifacts, '}');
		event_set_action(e, ACTION_ARTIFACT_DELTA, buf_span(&rewind->artifacts));
	}
	e->text.failed |= target.failed | rewind->delta.failed | rewind->deleted.failed |
			  rewind->artifacts.failed;
}

/* Read the state before the turn from the log. */
static int look_back(struct rewind *rewind)
{
	struct store *st = rewind->s.tx->st;
	const struct scope_info *info = &rewind->s.session;
	struct rewound *rw = &rewind->rw;
	int r = rewound_load(rw, st, rewind->ref, info, rewind->err);

	if (r == 0 && !info->rewinds)
		r = load_turns(rw, st, rewind->ref, rewind->err);
	if (r == 0)
		r = turn_of(rw, rewind->invocation)
			    ? add_range(rw, st, rewind->ref, rewind->invocation, info->log_size,
					rewind->err)
			    : -ENOENT;
	if (r == -ENOENT)
		return err_set(rewind->err, r, "no turn has the invocation id '%.*s'",
			       (int)MIN(rewind->invocation.len, 100), rewind->invocation.data);
	return r < 0 ? r
		     : session_lines(st, (struct log_range){ rewind->ref, 0, info->log_size },
				     sort_line, rewind, rewind->err);
}

static int check_quiet(struct rewind *rewind)
{
	struct turn_info turn;
	int r = turn_current(rewind->s.tx->st, rewind->ref, &turn, rewind->err);

	if (r == -ENOENT)
		return 0;
	return r < 0 ? r
		     : err_set(rewind->err, -EBUSY, "turn %llu has not ended",
			       (unsigned long long)turn.n);
}

/*
 * The reads here may see newer rows than the transaction's snapshot. But each change in between
 * also changes the session's record, and then the commit fails.
 */
static int rewind_session(struct store_tx *tx, void *arg)
{
	struct rewind *given = arg;
	CLEANUP(rewind_release)
	struct rewind rewind = { .ref = given->ref, .invocation = given->invocation };
	CLEANUP(event_release) struct event e = { 0 };
	int r = session_begin(&rewind.s, tx, rewind.ref);

	rewind.err = tx->err;
	if (r == 0)
		r = check_quiet(&rewind);
	if (r == 0)
		r = look_back(&rewind);
	if (r == 0)
		r = restore_state(&rewind);
	if (r == 0)
		r = replay_each(&rewind.lost.artifacts, restore_artifact, &rewind);
	if (r < 0)
		return r;
	fill_event(&rewind, &e);
	r = session_add(&rewind.s, &e);
	return r < 0 ? r : session_finish(&rewind.s);
}

int session_rewind(struct store *st, struct ref ref, struct span invocation, struct err *err)
{
	struct rewind rewind = { .ref = ref, .invocation = invocation };

	return store_update(st, rewind_session, &rewind, err);
}
