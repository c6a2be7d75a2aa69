/*
 * The past of a session: see past.h.
 */
#include "runner/past.h"

#include "store/mark.h"

#include <errno.h>
#include <stdlib.h>

static struct past_turn *turns_of(const struct past *p, size_t *count)
{
	*count = p->turns.len / sizeof(struct past_turn);
	return (struct past_turn *)(void *)p->turns.data;
}

const struct past_turn *past_turns(const struct past *p, size_t *count)
{
	return turns_of(p, count);
}

static struct past_summary *summaries_of(const struct past *p, size_t *count)
{
	*count = p->summaries.len / sizeof(struct past_summary);
	return (struct past_summary *)(void *)p->summaries.data;
}

static void drop_summary(struct past_summary *s)
{
	buf_release(&s->content);
}

void past_drop_summaries(struct past *p)
{
	size_t count;
	struct past_summary *list = summaries_of(p, &count);
	size_t i;

	for (i = 0; i < count; i++)
		drop_summary(&list[i]);
	buf_clear(&p->summaries);
	p->by_time = false;
}

/* All but the lines. */
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
	kept_release(&p->kept);
}

size_t past_weigh(const struct past *p)
{
	return p->turns.cap + p->by_name.cap + p->summaries.cap + p->rewound.turns.cap +
	       p->kept.lines.cap + p->kept.bytes;
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

	if (turn.first >= p->log_size) /* it came meanwhile */
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
	const struct past_turn *turns = turns_of(p, &count);
	size_t i;

	for (i = 0; i < count; i++) {
		const struct past_turn *turn = &turns[i];

		buf_add(&p->by_name, &turn, sizeof turn);
	}
	if (count && !p->by_name.failed)
		qsort(p->by_name.data, count, sizeof turns, by_invocation);
	return buf_check(&p->by_name, NULL);
}

/* *out: the turn, or NULL. */
static int find_turn(struct past *p, struct span invocation, const struct past_turn **out)
{
	struct past_turn key;
	const struct past_turn *wanted = &key;
	const struct past_turn *const *found;
	size_t count;
	int r = 0;

	*out = NULL;
	(void)turns_of(p, &count);
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

/* The turn that an invocation id in an object names. 0: none. */
static int take_turn(struct past *p, struct span object, const char *member, uint64_t *n)
{
	CLEANUP(buf_release) struct buf invocation = { 0 };
	const struct past_turn *turn;
	struct span token;
	int r = json_member(object, member, &token);

	if (r == 0)
		r = json_unquote(token, &invocation);
	if (r == 0)
		r = find_turn(p, buf_span(&invocation), &turn);
	if (r == 0 && turn)
		*n = turn->n;
	return r == -ENOMEM ? r : 0; /* what is not as it should be says nothing */
}

/* Which turns it is for, if it is ours and they are here. */
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

	return r < 0 ? r : model_time_parse(token, usec);
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

/* What is behind the turns and the summaries that are known. */
static int load_news(struct past *p, const struct scope_info *info, struct err *err)
{
	size_t count;
	const struct past_turn *turns = turns_of(p, &count);
	uint64_t last = count ? turns[count - 1].n : 0;
	uint64_t from = p->log_size;
	int r = 0;

	p->log_size = info->log_size;
	if (last < info->turns) {
		buf_clear(&p->by_name);
		r = turn_list(p->st, p->session, last, note_turn, p, err);
	}
	if (r >= 0 && from < info->log_size)
		r = mark_lines(p->st, p->session, ACTION_COMPACTION, from, info->log_size,
			       note_summary, p, err);
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
	const struct past_turn *turns = turns_of(p, &count);
	bool has_turns = info->turns > (count ? turns[count - 1].n : 0);

	return info->rewinds != p->rewinds || info->log_size < p->log_size ||
	       (has_turns && (p->rewinds || p->by_time));
}

int past_update(struct past *p, struct err *err)
{
	struct scope_info info;
	int r = scope_stat(p->st, p->session, &info, err);

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
	const struct past_summary *summaries = summaries_of(p, &summary_count);
	const struct past_turn *turns = turns_of(p, &turn_count);
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

/* One pass over the log. */
struct pass {
	struct past *p;
	uint64_t from;
	uint64_t to;
	past_fn *fn;
	void *arg;
	uint64_t at;        /* of the line that comes */
	uint64_t last_turn; /* of the line before */
	size_t hint;        /* in the turns: where the last one was found */
};

static const struct {
	const char *name;
	size_t offset;
} members[] = {
	{ "content", offsetof(struct past_line, content) },
	{ "invocationId", offsetof(struct past_line, invocation) },
	{ "author", offsetof(struct past_line, author) },
	{ "longRunningToolIds", offsetof(struct past_line, long_running) },
	{ "branch", offsetof(struct past_line, branch) },
	{ "timestamp", offsetof(struct past_line, timestamp) },
	{ "actions", offsetof(struct past_line, actions) },
	{ "customMetadata", offsetof(struct past_line, metadata) },
};

static int pick_member(void *arg, struct span key, struct span value)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(members); i++) {
		if (span_is(key, members[i].name)) {
			memcpy((char *)arg + members[i].offset, &value, sizeof value);
			break;
		}
	}
	return 0;
}

int past_pick(struct span text, struct past_line *line)
{
	return json_each(text, pick_member, line);
}

/* Lines of one turn stand together, mostly: the turn of the line before, or the next, is asked
 * first. */
static int turn_of(struct pass *pass, struct span invocation, const struct past_turn **out)
{
	size_t count;
	const struct past_turn *turns = turns_of(pass->p, &count);
	size_t i;
	int r;

	for (i = pass->hint; i < count && i < pass->hint + 2; i++) {
		if (span_is(invocation, turns[i].invocation)) {
			pass->hint = i;
			*out = &turns[i];
			return 0;
		}
	}
	r = find_turn(pass->p, invocation, out);
	if (r == 0 && *out)
		pass->hint = (size_t)(*out - turns);
	return r;
}

static bool stands_for(const struct past_summary *s, const struct past_turn *turn, int64_t time,
		       uint64_t at)
{
	if (at >= s->at) /* it came later */
		return false;
	if (turn && s->to)
		return s->from <= turn->n && turn->n <= s->to;
	return s->start <= time && time <= s->end;
}

/* The summary that stands for a line: the latest one. */
static struct past_summary *summary_of(struct past *p, const struct past_turn *turn, int64_t time,
				       uint64_t at)
{
	size_t count;
	struct past_summary *list = summaries_of(p, &count);
	struct past_summary *latest = NULL;
	size_t i;

	for (i = 0; i < count; i++) {
		if (stands_for(&list[i], turn, time, at)) {
			list[i].has_lines = true;
			latest = &list[i];
		}
	}
	return latest;
}

static int tell(struct pass *pass, struct past_summary *s, uint64_t turn, uint64_t at)
{
	struct past_line line = {
		.at = at, .turn = turn, .content = buf_span(&s->content), .is_summary = true
	};

	if (s->is_told)
		return 0;
	s->is_told = true;
	return pass->fn(pass->arg, &line);
}

/* A summary's own line: if its lines are not here, that is where it will be told. */
static void note_place(struct pass *pass, uint64_t at, uint64_t turn)
{
	size_t count;
	struct past_summary *list = summaries_of(pass->p, &count);
	size_t i;

	for (i = 0; i < count; i++) {
		if (list[i].at == at)
			list[i].follows = turn;
	}
}

/* A turn keeps its place for ever; a line of none may be of one that comes later. */
static int turn_of_kept(struct pass *pass, struct kept_line *line, const struct past_turn **out)
{
	size_t count;
	const struct past_turn *turns = turns_of(pass->p, &count);
	int r;

	if (line->turn) {
		*out = &turns[line->turn - 1];
		return 0;
	}
	r = turn_of(pass, line->invocation, out);
	if (r == 0 && *out)
		line->turn = (uint32_t)(*out - turns) + 1;
	return r;
}

/* turn: its own, or NULL. */
static int pass_line(struct pass *pass, struct past_line *line, const struct past_turn *turn,
		     struct span invocation)
{
	struct past *p = pass->p;
	struct past_summary *summary = NULL;
	int64_t time = 0;
	int r = 0;

	if (turn ? turn->is_undone : rewound_hides(&p->rewound, invocation, line->at))
		return 0;
	line->turn = turn ? turn->n : pass->last_turn;
	if (line->turn <= pass->to)
		pass->last_turn = line->turn;
	if (p->summaries.len) {
		r = model_time_parse(line->timestamp, &time);
		summary = summary_of(p, turn, time, line->at);
		note_place(pass, line->at, line->turn);
	}
	if (r < 0 || line->turn < pass->from || line->turn > pass->to)
		return r;
	return summary ? tell(pass, summary, line->turn, line->at) : pass->fn(pass->arg, line);
}

static int take_line(void *arg, struct span text)
{
	struct pass *pass = arg;
	CLEANUP(buf_release) struct buf invocation = { 0 };
	struct past_line line = { .at = pass->at };
	const struct past_turn *turn;
	int r = past_pick(text, &line);

	pass->at += text.len + 1;
	if (r == 0)
		r = json_unquote(line.invocation, &invocation);
	if (r == 0)
		r = turn_of(pass, buf_span(&invocation), &turn);
	return r < 0 ? r : pass_line(pass, &line, turn, buf_span(&invocation));
}

static int take_kept(void *arg, struct kept_line *kept)
{
	struct past_line line = { .at = kept->at, .timestamp = kept->timestamp, .kept = kept };
	const struct past_turn *turn;
	int r = turn_of_kept(arg, kept, &turn);

	return r < 0 ? r : pass_line(arg, &line, turn, kept->invocation);
}

/* 1: the turn need not be read. */
static int pass_turn(struct pass *pass, const struct past_turn *turn, struct past_summary **summary)
{
	*summary = NULL;
	if (!turn->is_whole || turn->is_undone)
		return turn->is_whole;
	if (pass->p->by_time)
		return 0;
	*summary = summary_of(pass->p, turn, 0, turn->first);
	if (turn->n >= pass->from && turn->n <= pass->to)
		return *summary && turn->last <= (*summary)->at;
	*summary = NULL;
	return 1;
}

static int read_to(struct pass *pass, uint64_t to, struct err *err)
{
	struct past *p = pass->p;
	int r = 0;

	if (pass->at < to && p->keeps)
		r = kept_each(&p->kept, p->st, p->session, pass->at, to, take_kept, pass, err);
	else if (pass->at < to)
		r = session_lines(p->st, p->session, pass->at, to, take_line, pass, err);
	pass->at = to;
	return r;
}

/* Summaries of what is not here, such as of a log that was cut and taken over. */
static int tell_rest(struct pass *pass)
{
	size_t count;
	struct past_summary *list = summaries_of(pass->p, &count);
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < count; i++) {
		if (!list[i].has_lines && list[i].follows >= pass->from)
			r = tell(pass, &list[i], list[i].follows, list[i].at);
	}
	return r;
}

/* Nothing is told of them yet. */
static void begin_summaries(struct past *p)
{
	size_t count;
	struct past_summary *list = summaries_of(p, &count);
	size_t i;

	for (i = 0; i < count; i++) {
		list[i].follows = 0;
		list[i].has_lines = list[i].is_told = false;
	}
}

int past_each(struct past *p, uint64_t from, uint64_t to, past_fn *fn, void *arg, struct err *err)
{
	struct pass pass = { .p = p, .from = from, .to = to, .fn = fn, .arg = arg };
	struct past_summary *summary;
	size_t count;
	const struct past_turn *turns = turns_of(p, &count);
	size_t i;
	int r = 0;

	begin_summaries(p);
	for (i = 0; r == 0 && i < count; i++) {
		if (!pass_turn(&pass, &turns[i], &summary))
			continue;
		r = read_to(&pass, turns[i].first, err);
		if (r == 0 && summary)
			r = tell(&pass, summary, turns[i].n, turns[i].first);
		if (!turns[i].is_undone && turns[i].n <= to)
			pass.last_turn = turns[i].n;
		pass.at = turns[i].last;
	}
	if (r == 0)
		r = read_to(&pass, p->log_size, err);
	return r < 0 ? r : tell_rest(&pass);
}

int past_by_place(const void *a, const void *b)
{
	const struct past_place *x = a;
	const struct past_place *y = b;

	if (x->turn != y->turn)
		return x->turn < y->turn ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}
