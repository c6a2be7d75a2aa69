/*
 * The messages of a request for Anthropic. User and assistant take turns, so
 * neighbouring contents of one role become one message. The user has the first and
 * the last message. The results of all calls in a message begin the next message, in
 * the order of the calls.
 */
#include "runner/provider/anthropic/anthropic.h"

#include "runner/syntax/json_put.h"

#include <errno.h>

/* The user's words where the protocol requires a message of the user. */
#define FIRST_WORDS "(start of the conversation)"
#define LAST_WORDS  "Go on as you were instructed. If nothing is left to do, say so."

/* Neighbouring contents of one role. */
struct group {
	size_t from;
	size_t to;
};

static enum anthropic_role role_of(const struct content *c)
{
	return c->role && strcmp(c->role, "model") == 0 ? ANTHROPIC_ASSISTANT : ANTHROPIC_USER;
}

static struct group next_group(const struct anthropic_writer *w, size_t from)
{
	struct group g = { from, from + 1 };

	while (g.to < w->q->count && role_of(w->q->contents[g.to]) == role_of(w->q->contents[from]))
		g.to++;
	return g;
}

static const struct model_pair *list_pairs(const struct anthropic_writer *w, size_t *count)
{
	return BUF_LIST(const struct model_pair, &w->pairs.list, count);
}

static size_t pair_count(const struct anthropic_writer *w)
{
	size_t count;

	(void)list_pairs(w, &count);
	return count;
}

/* Whether an id is unique by the way it is made. */
static bool is_unique(const char *id)
{
	return strncmp(id, "toolu_", 6) == 0 || strncmp(id, "adk-", 4) == 0;
}

/* Some servers repeat ids in each answer; this service refuses repeated ids. */
static bool is_repeated(const struct anthropic_writer *w, const struct model_pair *pair)
{
	size_t i;

	for (i = 0; !is_unique(pair->id) && i < pair->number; i++) {
		const char *other = list_pairs(w, NULL)[i].id;

		if (other && strcmp(other, pair->id) == 0)
			return true;
	}
	return false;
}

/* Append the id of a call: a-z A-Z 0-9 _ - only, and unique. */
static void put_id(struct anthropic_writer *w, const char *name, const struct model_pair *pair)
{
	jsonput_key(w->out, name);
	buf_char(w->out, '"');
	if (pair->id)
		model_name_escape("", pair->id, w->out);
	else
		buf_text(w->out, "call");
	if (!pair->id || is_repeated(w, pair))
		buf_printf(w->out, "_%zu", pair->number);
	buf_char(w->out, '"');
}

static int put_call(struct anthropic_writer *w, const struct part *p)
{
	CLEANUP(buf_release) struct buf name = { 0 };
	const struct model_pair *pair;
	int r = model_name_encode_past(&anthropic_names, p->name, &name, w->at.err);

	if (r == 0)
		r = model_pairs_call(&w->pairs, p, &pair);
	if (r < 0)
		return r;
	anthropic_open_block(w, "tool_use");
	put_id(w, "id", pair);
	jsonput_text(w->out, "name", buf_span(&name));
	jsonput_raw(w->out, "input", span_of(p->json));
	buf_char(w->out, '}');
	return 0;
}

static int put_assistant(struct anthropic_writer *w, const struct content *c)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < c->count; i++) {
		const struct part *p = &c->parts[i];

		r = p->kind == PART_CALL ? put_call(w, p) : anthropic_model_part(w, p);
	}
	return r;
}

/* Store a result in `answers`, at the number of its call, counted from `calls`. */
static int find_call(struct anthropic_writer *w, const struct part *p, size_t calls,
		     const struct part **answers)
{
	const struct model_pair *pair = model_pairs_answer(&w->pairs, p);

	if (!pair || pair->number < calls)
		return model_refuse(&w->at,
				    "a functionResponse without its functionCall:", p->name);
	answers[pair->number - calls] = p;
	return 0;
}

static int put_result(struct anthropic_writer *w, const struct model_pair *pair,
		      const struct part *p)
{
	int r;

	if (!p)
		return model_refuse(&w->at,
				    "a functionCall without its functionResponse:", pair->name);
	anthropic_open_block(w, "tool_result");
	put_id(w, "tool_use_id", pair);
	r = anthropic_result(w, p);
	buf_text(w->out, ",\"is_error\":false}");
	return r;
}

/* Append the results in a group, for all calls from number `calls` on. */
static int put_results(struct anthropic_writer *w, struct group g, size_t calls)
{
	size_t count = pair_count(w) - calls;
	CLEANUP(buf_release) struct buf list = { 0 };
	const struct part **answers;
	size_t i;
	int r = 0;

	if (!buf_reserve(&list, (count + 1) * sizeof *answers))
		return -ENOMEM;
	answers = (const struct part **)(void *)list.data;
	memset(answers, 0, (count + 1) * sizeof *answers);
	for (w->at.message = g.from; r == 0 && w->at.message < g.to; w->at.message++) {
		const struct content *c = w->q->contents[w->at.message];

		for (i = 0; r == 0 && i < c->count; i++) {
			if (c->parts[i].kind == PART_RESPONSE)
				r = find_call(w, &c->parts[i], calls, answers);
		}
	}
	w->at.message = g.from;
	for (i = 0; r == 0 && i < count; i++)
		r = put_result(w, list_pairs(w, NULL) + calls + i, answers[i]);
	return r;
}

static int put_user(struct anthropic_writer *w, const struct content *c)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < c->count; i++) {
		if (c->parts[i].kind != PART_RESPONSE)
			r = anthropic_user_part(w, &c->parts[i]);
	}
	return r;
}

static int put_group(struct anthropic_writer *w, struct group g)
{
	int (*put)(struct anthropic_writer * w,
		   const struct content *c) = w->role == ANTHROPIC_USER ? put_user : put_assistant;
	int r = 0;

	for (w->at.message = g.from; r == 0 && w->at.message < g.to; w->at.message++)
		r = put(w, w->q->contents[w->at.message]);
	return r;
}

/* Append words of the user where the protocol requires them. */
static void put_words(struct anthropic_writer *w, const char *words)
{
	w->role = ANTHROPIC_USER;
	anthropic_text(w, span_of(words));
}

static int put_groups(struct anthropic_writer *w)
{
	size_t calls = 0; /* number of calls before the current message of the assistant */
	struct group g = { 0, 0 };
	int r = 0;

	while (r == 0 && g.to < w->q->count) {
		g = next_group(w, g.to);
		if (role_of(w->q->contents[g.from]) == ANTHROPIC_ASSISTANT) {
			calls = pair_count(w);
			if (!w->open)
				put_words(w, FIRST_WORDS);
			w->role = ANTHROPIC_ASSISTANT;
		} else {
			w->role = ANTHROPIC_USER;
			r = put_results(w, g, calls);
			calls = pair_count(w);
		}
		if (r == 0)
			r = put_group(w, g);
	}
	if (r == 0 && calls < pair_count(w))
		r = put_results(w, (struct group){ w->q->count, w->q->count }, calls);
	return r;
}

int anthropic_messages(const struct question *q, struct buf *out, struct err *err)
{
	struct anthropic_writer w = { .q = q,
				      .out = out,
				      .at = { .provider = anthropic_names.provider, .err = err } };
	int r;

	jsonput_key(out, "messages");
	buf_char(out, '[');
	r = put_groups(&w);
	if (w.open != ANTHROPIC_USER)
		put_words(&w, LAST_WORDS);
	buf_text(out, "]}]");
	model_pairs_release(&w.pairs);
	return r;
}
