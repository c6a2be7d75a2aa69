/*
 * The lines of a past: see past.h.
 */
#include "runner/history/past.h"
#include "store/json/time.h"
#include "store/session/log.h"

/* A pass over the log. */
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

/* Find the turn of an invocation. Lines of a turn mostly stand together: try the last one first. */
static int turn_of(struct pass *pass, struct span invocation, const struct past_turn **out)
{
	size_t count;
	const struct past_turn *turns = past_turns(pass->p, &count);
	size_t i;
	int r;

	for (i = pass->hint; i < count && i < pass->hint + 2; i++) {
		if (span_is(invocation, turns[i].invocation)) {
			pass->hint = i;
			*out = &turns[i];
			return 0;
		}
	}
	r = past_find_turn(pass->p, invocation, out);
	if (r == 0 && *out)
		pass->hint = (size_t)(*out - turns);
	return r;
}

static bool stands_for(const struct past_summary *s, const struct past_turn *turn, int64_t time,
		       uint64_t at)
{
	if (at >= s->at) /* the line came later */
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
	struct past_summary *list = past_summaries(p, &count);
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

static int show(struct pass *pass, struct past_summary *s, uint64_t turn, uint64_t at)
{
	struct past_line line = {
		.at = at, .turn = turn, .content = buf_span(&s->content), .is_summary = true
	};

	if (s->is_shown)
		return 0;
	s->is_shown = true;
	return pass->fn(pass->arg, &line);
}

/* Note where a summary's own line stands: a summary whose lines the log lacks is shown there. */
static void note_place(struct pass *pass, uint64_t at, uint64_t turn)
{
	size_t count;
	struct past_summary *list = past_summaries(pass->p, &count);
	size_t i;

	for (i = 0; i < count; i++) {
		if (list[i].at == at)
			list[i].follows = turn;
	}
}

/* The turn of a cached line. A line that belongs to no turn yet may belong to a later one. */
static int turn_of_cached(struct pass *pass, struct cached_line *line, const struct past_turn **out)
{
	size_t count;
	const struct past_turn *turns = past_turns(pass->p, &count);
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

/* Pass a line on, or a summary in its place. turn: the turn of the line, or NULL. */
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
		r = time_parse(line->timestamp, &time);
		summary = summary_of(p, turn, time, line->at);
		note_place(pass, line->at, line->turn);
	}
	if (r < 0 || line->turn < pass->from || line->turn > pass->to)
		return r;
	return summary ? show(pass, summary, line->turn, line->at) : pass->fn(pass->arg, line);
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

static int take_cached(void *arg, struct cached_line *cached)
{
	struct past_line line = { .at = cached->at,
				  .timestamp = cached->timestamp,
				  .cached = cached };
	const struct past_turn *turn;
	int r = turn_of_cached(arg, cached, &turn);

	return r < 0 ? r : pass_line(arg, &line, turn, cached->invocation);
}

/* Whether a turn is skipped: 1: its lines are not read. *summary: stands for them, or NULL. */
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

	if (pass->at < to && p->caches)
		r = line_cache_each(&p->lines, pass->at, to, take_cached, pass, err);
	else if (pass->at < to)
		r = session_lines(p->st, (struct log_range){ p->session, pass->at, to }, take_line,
				  pass, err);
	pass->at = to;
	return r;
}

/* Show summaries whose lines the log lacks, as after an import. */
static int show_rest(struct pass *pass)
{
	size_t count;
	struct past_summary *list = past_summaries(pass->p, &count);
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < count; i++) {
		if (!list[i].has_lines && list[i].follows >= pass->from)
			r = show(pass, &list[i], list[i].follows, list[i].at);
	}
	return r;
}

/* Begin a pass: no summary is shown yet. */
static void begin_summaries(struct past *p)
{
	size_t count;
	struct past_summary *list = past_summaries(p, &count);
	size_t i;

	for (i = 0; i < count; i++) {
		list[i].follows = 0;
		list[i].has_lines = list[i].is_shown = false;
	}
}

int past_each(struct past *p, uint64_t from, uint64_t to, past_fn *fn, void *arg, struct err *err)
{
	struct pass pass = { .p = p, .from = from, .to = to, .fn = fn, .arg = arg };
	struct past_summary *summary;
	size_t count;
	const struct past_turn *turns = past_turns(p, &count);
	size_t i;
	int r = 0;

	begin_summaries(p);
	for (i = 0; r == 0 && i < count; i++) {
		if (!pass_turn(&pass, &turns[i], &summary))
			continue;
		r = read_to(&pass, turns[i].first, err);
		if (r == 0 && summary)
			r = show(&pass, summary, turns[i].n, turns[i].first);
		if (!turns[i].is_undone && turns[i].n <= to)
			pass.last_turn = turns[i].n;
		pass.at = turns[i].last;
	}
	if (r == 0)
		r = read_to(&pass, p->log_size, err);
	return r ? r : show_rest(&pass);
}
