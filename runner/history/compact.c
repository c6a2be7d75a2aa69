/*
 * Compaction: see compact.h.
 */
#include "runner/history/compact.h"

#include "base/clock.h"
#include "runner/history/past.h"
#include "store/json/time.h"

#include <errno.h>
#include <stdlib.h>

#define TRIES 3 /* when the session is rewound while the model is asked */

static const char task[] =
	"Summarise the conversation below between a user and one or more agents, so that it can "
	"go on from your summary alone. Keep what was asked, decided and found out, names and "
	"numbers that may matter later, and what is still open. Answer with the summary only.\n\n";

/* The turns to compact, and the prompt for their summary. */
struct plan {
	char from[64]; /* invocation of the first turn */
	char to[64];   /* invocation of the last turn */
	int64_t start; /* microseconds; the times of the first and the last line */
	int64_t end;
	uint64_t rewinds;  /* of the log when it was read */
	struct buf prompt; /* what to do, and a line `author: text` for each text */
};

static void plan_release(struct plan *plan)
{
	buf_release(&plan->prompt);
}

/* The turns to compact: all have ended, none is undone. */
struct turns {
	const struct past_turn *first;
	const struct past_turn *last;
	uint64_t from; /* number of the first turn; 0: from the first line of the log on */
	unsigned fresh;
};

/* Let the compaction begin `overlap` turns before the first new one. */
static void reach_back(const struct past_turn *turns, size_t fresh, unsigned overlap,
		       struct turns *out)
{
	size_t i = fresh;

	out->first = &turns[fresh];
	while (i-- > 0) {
		if (turns[i].is_undone)
			continue;
		if (!overlap--) {
			out->from = out->first->n;
			return;
		}
		out->first = &turns[i];
	}
	out->from = 0;
}

/* Choose the turns to compact. False: there are too few. */
static bool choose_turns(const struct past *past, const struct compact_options *options,
			 struct turns *out)
{
	uint64_t compacted = past_compacted(past);
	size_t count;
	const struct past_turn *turns = past_turns(past, &count);
	size_t first = 0;
	size_t i;

	*out = (struct turns){ 0 };
	for (i = 0; i < count; i++) {
		if (turns[i].is_undone || turns[i].n <= compacted)
			continue;
		if (!turns[i].has_ended)
			break;
		if (!out->fresh++)
			first = i;
		out->last = &turns[i];
	}
	if (out->fresh < MAX(options->least, 1))
		return false;
	reach_back(turns, first, options->overlap, out);
	return true;
}

/* A text of the log. */
struct saying {
	struct past_place place;
	size_t from; /* in the text */
	size_t to;
};

struct reading {
	struct plan *plan;
	struct buf sayings; /* of struct saying */
	struct buf text;    /* lines `author: text` */
	bool has_time;
};

static void reading_release(struct reading *rd)
{
	buf_release(&rd->sayings);
	buf_release(&rd->text);
}

static int take_time(struct reading *rd, const struct past_line *line)
{
	struct plan *plan = rd->plan;
	int64_t time;
	int r = time_parse(line->timestamp, &time);

	if (r < 0)
		return r;
	plan->start = rd->has_time ? MIN(plan->start, time) : time;
	plan->end = rd->has_time ? MAX(plan->end, time) : time;
	rd->has_time = true;
	return 0;
}

/* Take the texts of a line: no thoughts, no calls and responses. */
static int take_line(void *arg, const struct past_line *line)
{
	struct reading *rd = arg;
	CLEANUP(content_free_p) struct content *content = NULL;
	struct saying saying = { { line->turn, line->at }, rd->text.len, 0 };
	size_t said;
	int r = take_time(rd, line);

	if (r < 0 || !line->content.len)
		return r;
	r = content_from_stored(line->content, &content);
	if (r == 0)
		r = json_unquote(line->author, &rd->text);
	if (r < 0)
		return r;
	buf_text(&rd->text, ": ");
	said = rd->text.len;
	content_text(content, &rd->text);
	if (rd->text.len == said) {
		rd->text.len = saying.from;
		return 0;
	}
	if (rd->text.data[rd->text.len - 1] != '\n')
		buf_char(&rd->text, '\n');
	saying.to = rd->text.len;
	buf_add(&rd->sayings, &saying, sizeof saying);
	if (rd->text.len > COMPACT_PROMPT_MAX)
		return -EFBIG;
	return rd->sayings.failed || rd->text.failed ? -ENOMEM : 0;
}

static int write_prompt(struct reading *rd, struct err *err)
{
	size_t count;
	struct saying *list = BUF_LIST(struct saying, &rd->sayings, &count);
	struct buf *prompt = &rd->plan->prompt;
	size_t i;

	if (!count)
		return 1;
	qsort(list, count, sizeof *list, past_by_place);
	buf_text(prompt, task);
	for (i = 0; i < count; i++)
		buf_span_add(prompt, span_sub(buf_span(&rd->text), list[i].from, list[i].to));
	return buf_check(prompt, err);
}

static int read_turns(struct past *past, const struct turns *turns, struct plan *plan,
		      struct err *err)
{
	CLEANUP(reading_release) struct reading rd = { .plan = plan };
	int r;

	past_drop_summaries(past); /* the turns themselves are summarised */
	r = past_each(past, turns->from, turns->last->n, take_line, &rd, err);
	if (r == -EFBIG)
		return err_set(err, r, "more than %u bytes were said since the last summary",
			       COMPACT_PROMPT_MAX);
	return r < 0 ? r : write_prompt(&rd, err);
}

/* 1: there is nothing to compact. */
static int make_plan(struct store *st, struct ref session, const struct compact_options *options,
		     struct plan *out, struct err *err)
{
	CLEANUP(past_release) struct past past = { 0 };
	struct turns turns;
	int r = past_load(&past, st, session, err);

	if (r == 0 && !choose_turns(&past, options, &turns))
		return 1;
	if (r == 0) {
		memcpy(out->from, turns.first->invocation, sizeof out->from);
		memcpy(out->to, turns.last->invocation, sizeof out->to);
		out->rewinds = past.rewinds;
		r = read_turns(&past, &turns, out, err);
	}
	if (r < 0 && err && !err->code)
		return err_set(err, r, "the log of the session cannot be read");
	return r;
}

/* Set the tokens and the model of the summary, as in the events of a model. */
static void fill_usage(const struct compact_summary *summary, struct event *e)
{
	CLEANUP(buf_release) struct buf json = { 0 };
	size_t i;

	for (i = 0; i < TOKENS_COUNTS; i++) {
		if (summary->tokens.count[i])
			buf_printf(&json, "%s\"%s\":%llu", json.len ? "," : "{",
				   tokens_name((enum token_count)i),
				   (unsigned long long)summary->tokens.count[i]);
	}
	if (json.len)
		buf_char(&json, '}');
	e->text.failed |= json.failed;
	if (json.len)
		event_set_json(e, EVENT_USAGE, buf_span(&json));
	if (summary->model[0])
		event_set_text(e, EVENT_MODEL_VERSION, span_of(summary->model));
}

static int fill_event(const struct plan *plan, struct span summary, struct event *e)
{
	CLEANUP(content_free_p) struct content *content = content_new("model");
	CLEANUP(buf_release) struct buf json = { 0 };
	char invocation[48];

	if (!content || content_add_text(content, summary, false) < 0)
		return -ENOMEM;
	clock_new_id(invocation, "e-");
	event_set_text(e, EVENT_INVOCATION, span_of(invocation));
	event_set_text(e, EVENT_AUTHOR, SPAN("user"));
	buf_text(&json, "{\"startTimestamp\":");
	time_print(&json, plan->start);
	buf_text(&json, ",\"endTimestamp\":");
	time_print(&json, plan->end);
	buf_text(&json, ",\"compactedContent\":");
	content_to_json(content, &json);
	buf_char(&json, '}');
	event_set_action(e, ACTION_COMPACTION, buf_span(&json));
	e->text.failed |= json.failed;
	buf_clear(&json);
	buf_text(&json, "{\"adkfs.compacted\":{\"from\":");
	json_quote(&json, span_of(plan->from));
	buf_text(&json, ",\"to\":");
	json_quote(&json, span_of(plan->to));
	buf_text(&json, "}}");
	event_set_json(e, EVENT_CUSTOM_METADATA, buf_span(&json));
	return json.failed || e->text.failed ? -ENOMEM : 0;
}

static int make_event(const struct plan *plan, const struct compact_summary *summary,
		      struct event *e, struct err *err)
{
	struct span text = buf_span(&summary->text);

	if (span_is_blank(text))
		return err_set(err, -EIO, "the model gave no summary");
	if (text.len > COMPACT_SUMMARY_MAX)
		return err_set(err, -EFBIG, "the model's summary has more than %u bytes",
			       COMPACT_SUMMARY_MAX);
	fill_usage(summary, e);
	return fill_event(plan, text, e) < 0 ? err_nomem(err) : 0;
}

struct append {
	struct ref session;
	struct event *event;
	uint64_t rewinds;
	bool is_late; /* the session was rewound since */
};

static int append(struct store_tx *tx, void *arg)
{
	struct append *a = arg;
	CLEANUP(session_release) struct session_tx s;
	int r = session_begin(&s, tx, a->session);

	if (r < 0)
		return r;
	a->is_late = s.session.rewinds != a->rewinds;
	if (a->is_late)
		return 0;
	r = session_add(&s, a->event);
	return r < 0 ? r : session_finish(&s);
}

/* A compaction under way. */
struct compacting {
	struct store *st;
	struct ref session;
	const struct compact_options *options;
	compact_ask_fn *ask;
	void *arg;
	struct compact_summary summary;
};

/* 2: some of the turns were undone meanwhile. */
static int compact_once(struct compacting *c, struct err *err)
{
	CLEANUP(plan_release) struct plan plan = { 0 };
	CLEANUP(event_release) struct event e = { 0 };
	struct append a = { .session = c->session, .event = &e };
	int r = make_plan(c->st, c->session, c->options, &plan, err);

	if (r)
		return r == -ENOENT ? -ESTALE : r;
	buf_clear(&c->summary.text);
	r = c->ask(c->arg, buf_span(&plan.prompt), &c->summary, err);
	if (r == 0)
		r = make_event(&plan, &c->summary, &e, err);
	a.rewinds = plan.rewinds;
	if (r == 0)
		r = store_update(c->st, append, &a, err);
	return r == 0 && a.is_late ? 2 : r;
}

int compact_session(struct store *st, struct ref session, const struct compact_options *options,
		    compact_ask_fn *ask, void *arg, struct err *err)
{
	struct compacting c = {
		.st = st, .session = session, .options = options, .ask = ask, .arg = arg
	};
	unsigned tries = TRIES;
	int r;

	do {
		r = compact_once(&c, err);
	} while (r == 2 && --tries);
	buf_release(&c.summary.text);
	if (r == 2)
		return err_set(err, -EBUSY, "the session was rewound while it was summarised");
	return r;
}
