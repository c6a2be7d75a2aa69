/*
 * The past of a session: see past.h.
 */
#include "runner/history/past.h"

#include "store/json/time.h"
#include "store/session/mark.h"

#include <errno.h>
#include <stdlib.h>

const struct past_turn *past_turns(const struct past *p, size_t *count)
{
	return BUF_LIST(const struct past_turn, &p->turns, count);
}

struct past_summary *past_summaries(const struct past *p, size_t *count)
{
	return BUF_LIST(struct past_summary, &p->summaries, count);
}

static void drop_summary(struct past_summary *s)
{
	buf_release(&s->content);
}

void past_drop_summaries(struct past *p)
{
	size_t count;
	struct past_summary *list = past_summaries(p, &count);
	size_t i;

	for (i = 0; i < count; i++)
		drop_summary(&list[i]);
	buf_clear(&p->summaries);
	p->by_time = false;
}

/* Drop all but the lines. */
static void forget(struct past *p)
{
	past_drop_summaries(p);
	buf_release(&p->summaries);
	buf_release(&p->by_name);
	buf_release(&p->turns);
	rewound_release(&p->rewound);
	p->log_size = 0;
}

void past_release(struct past *p)
{
	forget(p);
	line_cache_release(&p->lines);
}

size_t past_weigh(const struct past *p)
{
	return p->turns.cap + p->by_name.cap + p->summaries.cap + p->rewound.turns.cap +
	       p->lines.list.cap + p->lines.bytes;
}

static int note_turn(void *arg, const struct turn_info *info)
{
	struct past *p = arg;
	struct past_turn turn = { .n = info->n,
				  .first = info->first,
				  .last = info->last,
				  .created = info->created,
				  .is_whole = info->bytes == info->last - info->first,
				  .has_ended = info->ended };

	if (turn.first >= p->log_size) /* added since the scope was read */
		return 1;
	if (turn.last > p->log_size)
		turn.is_whole = false;
	memcpy(turn.invocation, info->invocation, sizeof turn.invocation);
	turn.is_undone = rewound_hides(&p->rewound, span_of(turn.invocation), turn.first);
	buf_add(&p->turns, &turn, sizeof turn);
	return buf_check(&p->turns, NULL);
}

static int by_invocation(const void *a, const void *b)
{
	const struct past_turn *x = *(const struct past_turn *const *)a;
	const struct past_turn *y = *(const struct past_turn *const *)b;

	return strcmp(x->invocation, y->invocation);
}

static int sort_names(struct past *p)
{
	size_t count;
	const struct past_turn *turns = past_turns(p, &count);
	size_t i;

	for (i = 0; i < count; i++) {
		const struct past_turn *turn = &turns[i];

		buf_add(&p->by_name, &turn, sizeof turn);
	}
	if (count && !p->by_name.failed)
		qsort(p->by_name.data, count, sizeof turns, by_invocation);
	return buf_check(&p->by_name, NULL);
}

int past_find_turn(struct past *p, struct span invocation, const struct past_turn **out)
{
	struct past_turn key;
	const struct past_turn *wanted = &key;
	const struct past_turn *const *found;
	size_t count;
	int r = 0;

	*out = NULL;
	(void)past_turns(p, &count);
	if (!count || !invocation.len || invocation.len >= sizeof key.invocation)
		return 0;
	if (!p->by_name.len)
		r = sort_names(p);
	if (r < 0)
		return r;
	memcpy(key.invocation, invocation.data, invocation.len);
	key.invocation[invocation.len] = 0;
	found = bsearch(&wanted, p->by_name.data, count, sizeof wanted, by_invocation);
	if (found)
		*out = *found;
	return 0;
}

/* Set *n to the number of the turn whose invocation id a member has, if there is such a turn. */
static int take_turn(struct past *p, struct span object, const char *member, uint64_t *n)
{
	CLEANUP(buf_release) struct buf invocation = { 0 };
	const struct past_turn *turn;
	struct span token;
	int r = json_member(object, member, &token);

	if (r == 0)
		r = json_unquote(token, &invocation);
	if (r == 0)
		r = past_find_turn(p, buf_span(&invocation), &turn);
	if (r == 0 && turn)
		*n = turn->n;
	return r == -ENOMEM ? r : 0; /* an invalid member is ignored */
}

/* Find the turns that a summary of this program stands for, if the log has them. */
static int take_covered(struct past *p, struct span line, struct past_summary *s)
{
	struct span object;
	int r = json_member(line, "customMetadata", &object);

	if (r == 0)
		r = json_member(object, "adkfs.compacted", &object);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	r = take_turn(p, object, "from", &s->from);
	if (r == 0)
		r = take_turn(p, object, "to", &s->to);
	if (!s->from || s->from > s->to)
		s->to = 0;
	return r;
}

static int take_time(struct span object, const char *member, int64_t *usec)
{
	struct span token;
	int r = json_member(object, member, &token);

	return r < 0 ? r : time_parse(token, usec);
}

static int take_summary(struct span line, struct past_summary *s)
{
	struct span object;
	struct span content;
	int r = json_member(line, "actions", &object);

	if (r == 0)
		r = json_member(object, "compaction", &object);
	if (r == 0)
		r = take_time(object, "startTimestamp", &s->start);
	if (r == 0)
		r = take_time(object, "endTimestamp", &s->end);
	if (r == 0)
		r = json_member(object, "compactedContent", &content);
	if (r < 0)
		return r;
	buf_span_add(&s->content, content);
	return buf_check(&s->content, NULL);
}

static int note_summary(void *arg, uint64_t at, struct span line)
{
	struct past *p = arg;
	CLEANUP(buf_release) struct buf invocation = { 0 };
	struct past_summary summary = { .at = at };
	struct past_line picked = { 0 };
	int r = past_pick(line, &picked);

	if (r == 0)
		r = json_unquote(picked.invocation, &invocation);
	if (r < 0 || rewound_hides(&p->rewound, buf_span(&invocation), at))
		return r;
	r = take_covered(p, line, &summary);
	if (r == 0)
		r = take_summary(line, &summary);
	if (r == 0) {
		p->by_time |= !summary.to;
		buf_add(&p->summaries, &summary, sizeof summary);
		r = buf_check(&p->summaries, NULL);
	}
	if (r < 0)
		drop_summary(&summary);
	return r;
}

/* Load the turns and summaries after those that are known. */
static int load_news(struct past *p, const struct scope_info *info, struct err *err)
{
	size_t count;
	const struct past_turn *turns = past_turns(p, &count);
	uint64_t last = count ? turns[count - 1].n : 0;
	uint64_t from = p->log_size;
	int r = 0;

	p->log_size = info->log_size;
	if (last < info->turns) {
		buf_clear(&p->by_name);
		r = turn_list(p->st, p->session, last, note_turn, p, err);
	}
	if (r >= 0 && from < info->log_size)
		r = mark_lines(p->st, (struct log_range){ p->session, from, info->log_size },
			       ACTION_COMPACTION, note_summary, p, err);
	return MIN(r, 0);
}

static int load(struct past *p, const struct scope_info *info, struct err *err)
{
	int r = rewound_load(&p->rewound, p->st, p->session, info, err);

	p->rewinds = info->rewinds;
	return r < 0 ? r : load_news(p, info, err);
}

int past_load(struct past *p, struct store *st, struct ref session, struct err *err)
{
	struct scope_info info;
	int r;

	*p = (struct past){ .st = st, .session = session };
	r = scope_stat(st, session, &info, err);
	return r < 0 ? r : load(p, &info, err);
}

/*
 * Whether new lines may change what older ones mean: rewinds do, and a new turn may be the one
 * that a rewind or a summary names.
 */
static bool is_outdated(const struct past *p, const struct scope_info *info)
{
	size_t count;
	const struct past_turn *turns = past_turns(p, &count);
	bool has_turns = info->turns > (count ? turns[count - 1].n : 0);

	return info->rewinds != p->rewinds || info->log_size < p->log_size ||
	       (has_turns && (p->rewinds || p->by_time));
}

int past_update(struct past *p, struct err *err)
{
	struct scope_info info;
	int r = scope_stat(p->st, p->session, &info, err);

	p->lines.store = p->st;
	p->lines.session = p->session;
	if (r < 0)
		return r;
	if (!is_outdated(p, &info))
		return load_news(p, &info, err);
	forget(p);
	return load(p, &info, err);
}

uint64_t past_compacted(const struct past *p)
{
	size_t summary_count;
	size_t turn_count;
	const struct past_summary *summaries = past_summaries(p, &summary_count);
	const struct past_turn *turns = past_turns(p, &turn_count);
	uint64_t last = 0;
	size_t i;
	size_t k;

	for (i = 0; i < summary_count; i++) {
		last = MAX(last, summaries[i].to);
		for (k = turn_count; !summaries[i].to && k-- > 0;) {
			if (turns[k].created > summaries[i].end || turns[k].first > summaries[i].at)
				continue;
			last = MAX(last, turns[k].n);
			break;
		}
	}
	return last;
}
