/*
 * usage.json: the tokens that the events of the log report.
 *
 * A summary counts by its own event, and also in a sum of its own. The name of
 * a model is the version that the provider reported, or else the model that
 * the agent asked.
 */
#include "base/json_text.h"
#include "fs/tree/fs.h"
#include "fs/view/view.h"
#include "fs/view/walk.h"

#include <stdlib.h>

#define UNKNOWN_MODEL "unknown"

struct row {
	uint64_t n; /* of a turn... */
	char *name; /* ...or a model */
	uint64_t calls;
	struct tokens tokens;
};

struct usage {
	struct row total;
	struct row summaries; /* the part of total that compactions used */
	struct buf models;    /* of struct row */
	struct buf turns;     /* of struct row */
};

static void usage_release(struct usage *u)
{
	size_t n;
	struct row *models = BUF_LIST(struct row, &u->models, &n);
	size_t i;

	for (i = 0; i < n; i++)
		free(models[i].name);
	buf_release(&u->models);
	buf_release(&u->turns);
}

static void count(struct row *row, const struct tokens *tokens, unsigned calls)
{
	row->calls += calls;
	tokens_add(&row->tokens, tokens);
}

static struct row *last_row(const struct buf *rows)
{
	size_t n;
	struct row *list = BUF_LIST(struct row, rows, &n);

	return &list[n - 1];
}

static struct row *add_row(struct buf *rows, struct row row)
{
	buf_add(rows, &row, sizeof row);
	return rows->failed ? NULL : last_row(rows);
}

static struct row *find_model(struct usage *u, struct span name)
{
	size_t n;
	struct row *rows = BUF_LIST(struct row, &u->models, &n);
	char *copy;
	size_t i;

	for (i = 0; i < n; i++) {
		if (span_is(name, rows[i].name))
			return &rows[i];
	}
	copy = span_dup(name);
	return copy ? add_row(&u->models, (struct row){ .name = copy }) : NULL;
}

/* Add to the sums of a model, the session and the turn. */
static int count_all(struct usage *u, struct span name, const struct tokens *tokens, unsigned calls,
		     bool in_turn)
{
	struct row *model = find_model(u, name);

	if (!model)
		return err_nomem(NULL);
	count(model, tokens, calls);
	count(&u->total, tokens, calls);
	if (in_turn)
		count(last_row(&u->turns), tokens, calls);
	return 0;
}

/* A call without an answer in the log counts; the event of its failure has its tokens. */
static int take_turn(void *arg, const struct walk_turn *turn)
{
	static const struct tokens none;
	struct usage *u = arg;
	size_t i;
	int r = add_row(&u->turns, (struct row){ .n = turn->info.n }) ? 0 : err_nomem(NULL);

	for (i = 0; r == 0 && i < turn->call_count; i++) {
		const struct call_info *call = &turn->calls[i];

		if (call->kind == CALL_MODEL && !call->said.len)
			r = count_all(u, span_of(call->name), &none, 1, true);
	}
	return r;
}

/* The model call that this event answers, or NULL. *any: whether the turn has model calls. */
static const struct call_info *find_call(const struct walk_event *e, bool *any)
{
	size_t i;

	*any = false;
	for (i = 0; e->turn && i < e->turn->call_count; i++) {
		const struct call_info *call = &e->turn->calls[i];

		if (call->kind != CALL_MODEL)
			continue;
		*any = true;
		if (call->said.len && call->said.at == e->at)
			return call;
	}
	return NULL;
}

/* Whether the event is a summary that a model wrote. */
static bool is_summary(const struct walk_event *e)
{
	struct span actions = e->member[WALK_ACTIONS];
	struct span value;

	return e->member[WALK_MODEL_VERSION].len && actions.len &&
	       json_member(actions, "compaction", &value) == 0;
}

static int take_event(void *arg, const struct walk_event *e)
{
	CLEANUP(buf_release) struct buf name = { 0 };
	struct usage *u = arg;
	struct tokens tokens = { { 0 } };
	bool any;
	const struct call_info *call = find_call(e, &any);
	bool compacts = is_summary(e);
	int r = 0;

	if (!e->member[WALK_USAGE].len && !call && !compacts)
		return 0;
	tokens_add_json(&tokens, e->member[WALK_USAGE]);
	if (e->member[WALK_MODEL_VERSION].len)
		r = json_unquote(e->member[WALK_MODEL_VERSION], &name);
	if (r == 0 && !name.len)
		buf_text(&name, call ? call->name : UNKNOWN_MODEL);
	if (r == 0)
		r = buf_check(&name, NULL);
	if (r == 0 && compacts)
		count(&u->summaries, &tokens, 1);
	return r < 0 ? r : count_all(u, buf_span(&name), &tokens, call || !any, e->turn != NULL);
}

static void put_counts(const struct row *row, struct buf *out)
{
	size_t i;

	buf_printf(out, "\"modelCalls\":%llu", (unsigned long long)row->calls);
	for (i = 0; i < TOKENS_COUNTS; i++)
		buf_printf(out, ",\"%s\":%llu", tokens_name((enum token_count)i),
			   (unsigned long long)row->tokens.count[i]);
	buf_char(out, '}');
}

static void put_models(const struct usage *u, struct buf *out)
{
	size_t n;
	const struct row *rows = BUF_LIST(struct row, &u->models, &n);
	size_t i;

	buf_text(out, "{\"total\":{");
	put_counts(&u->total, out);
	buf_text(out, ",\"models\":{");
	for (i = 0; i < n; i++) {
		buf_text(out, i ? "," : "");
		json_quote(out, span_of(rows[i].name));
		buf_text(out, ":{");
		put_counts(&rows[i], out);
	}
	buf_char(out, '}');
}

static void put_turns(const struct usage *u, struct buf *out)
{
	size_t n;
	const struct row *rows = BUF_LIST(struct row, &u->turns, &n);
	size_t i;

	buf_text(out, ",\"turns\":[");
	for (i = 0; i < n; i++) {
		buf_printf(out, "%s{\"turn\":%llu,", i ? "," : "", (unsigned long long)rows[i].n);
		put_counts(&rows[i], out);
	}
	buf_char(out, ']');
}

int usage_show(const struct place *at, struct buf *out, struct err *err)
{
	CLEANUP(usage_release) struct usage u = { 0 };
	struct walk walk = { take_turn, take_event, &u };
	int r = walk_session(at->fs->store, at->ref, &walk, err);

	if (r < 0)
		return r;
	put_models(&u, out);
	buf_text(out, ",\"summaries\":{");
	put_counts(&u.summaries, out);
	put_turns(&u, out);
	buf_text(out, "}\n");
	return buf_check(out, err);
}

int usage_turn_show(const struct place *at, struct buf *out, struct err *err)
{
	CLEANUP(usage_release) struct usage u = { 0 };
	struct walk walk = { take_turn, take_event, &u };
	int r = walk_one_turn(at->fs->store, at->ref, at->n, &walk, err);

	if (r < 0)
		return r;
	put_models(&u, out);
	buf_text(out, "}\n");
	return buf_check(out, err);
}
