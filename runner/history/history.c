/*
 * History: see history.h.
 */
#include "runner/history/history.h"

#include "runner/history/contents.h"
#include "runner/history/pairing.h"
#include "runner/history/past_cache.h"

#include <errno.h>
#include <stdlib.h>

struct builder {
	const struct history_query *q;
	struct span agent;
	struct span branch;  /* empty: none */
	struct buf entries;  /* of struct entry */
	struct buf requests; /* ids of calls whose answers are left out, each with a NUL */
};

static struct entry *entries_of(const struct builder *b, size_t *count)
{
	return BUF_LIST(struct entry, &b->entries, count);
}

static void builder_release(struct builder *b)
{
	size_t count;
	struct entry *list = entries_of(b, &count);
	size_t i;

	for (i = 0; i < count; i++)
		content_free(list[i].content);
	buf_release(&b->entries);
	buf_release(&b->requests);
}

/* Whether the runner asks people by calls of this name; no model makes them. */
static bool is_request(const char *name)
{
	return name && (!strcmp(name, "adk_request_confirmation") ||
			!strcmp(name, "adk_request_credential"));
}

static bool is_for_people(struct builder *b, const struct part *p)
{
	if (p->kind == PART_CALL && is_request(p->name)) {
		if (p->id)
			buf_add(&b->requests, p->id, strlen(p->id) + 1);
		return true;
	}
	return p->kind == PART_RESPONSE &&
	       (is_request(p->name) || (p->id && buf_has_text(&b->requests, p->id)));
}

/* Replace a content that others share by a copy, which may be changed. */
static int make_own(struct content **content)
{
	struct content *copy = content_copy(*content);

	if (!copy)
		return -ENOMEM;
	content_free(*content);
	*content = copy;
	return 0;
}

/* Drop signatures of another provider: a provider refuses those that it did not make. */
static int drop_signatures(const struct builder *b, const struct cached_line *line,
			   struct content **content)
{
	size_t i;

	if (!line->signer.len || !b->q->provider || span_is(line->signer, b->q->provider))
		return 0;
	if (make_own(content) < 0)
		return -ENOMEM;
	for (i = 0; i < (*content)->count; i++) {
		free((*content)->parts[i].signature);
		(*content)->parts[i].signature = NULL;
	}
	return 0;
}

/* Drop requests to people and their answers: models do not see them. */
static int drop_requests(struct builder *b, struct content **content)
{
	size_t count = (*content)->count;
	size_t kept = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		bool dropped = is_for_people(b, &(*content)->parts[i]);

		if (dropped && kept == i && make_own(content) < 0) /* the first one */
			return -ENOMEM;
		if (dropped)
			part_release(&(*content)->parts[i]);
		else if (kept++ < i)
			(*content)->parts[kept - 1] = (*content)->parts[i];
	}
	if (kept < count)
		(*content)->count = kept;
	return buf_check(&b->requests, NULL);
}

/* Make the content in which this agent reads what another agent did; empty: nothing. */
static int make_foreign(const struct content *content, const char *author, struct content **out)
{
	CLEANUP(content_free_p) struct content *foreign = foreign_new();
	size_t i;
	int r = foreign ? 0 : -ENOMEM;

	for (i = 0; r == 0 && i < content->count; i++)
		r = foreign_add(foreign, author, &content->parts[i]);
	if (r < 0)
		return r;
	if (foreign->count == 1) /* only the heading */
		part_release(&foreign->parts[--foreign->count]);
	*out = STEAL(&foreign);
	return 0;
}

/* Whether the agent sees a branch: `a.b` is above `a.b.c`, and not above `a.bc`. */
static bool is_seen(const struct builder *b, struct span branch)
{
	struct span mine = b->branch;

	if (!mine.len || !branch.len || span_equal(mine, branch))
		return true;
	return mine.len > branch.len && mine.data[branch.len] == '.' &&
	       !memcmp(mine.data, branch.data, branch.len);
}

static int add_entry(struct builder *b, struct entry *e, struct content **content)
{
	e->content = *content;
	buf_add(&b->entries, e, sizeof *e);
	if (b->entries.failed)
		return -ENOMEM;
	*content = NULL;
	return 0;
}

/* Replace a content by what other agents read. The cache keeps that for a whole content. */
static int to_foreign(struct cached_line *line, struct content **content)
{
	CLEANUP(buf_release) struct buf author = { 0 };
	struct content *foreign = NULL;
	int r;

	if (*content == line->content && line->foreign) {
		foreign = content_ref(line->foreign);
	} else {
		buf_span_add(&author, line->author);
		r = buf_cstr(&author) ? make_foreign(*content, author.data, &foreign) : -ENOMEM;
		if (r < 0)
			return r;
		if (*content == line->content)
			line->foreign = content_ref(foreign);
	}
	content_free(*content);
	*content = foreign;
	return 0;
}

static int add_event(struct builder *b, struct cached_line *line, uint64_t turn)
{
	CLEANUP(content_free_p) struct content *content = NULL;
	struct entry e = { .place = { turn, line->at } };
	int r;

	if (!line->is_shown)
		return 0;
	content = content_ref(line->content);
	e.by_user = span_is(line->author, "user");
	e.own = e.by_user || span_equal(line->author, b->agent);
	if (e.own)
		e.long_running = line->long_running;
	e.has_functions = e.own && line->has_functions;
	r = drop_signatures(b, line, &content);
	if (r == 0 && line->has_functions)
		r = drop_requests(b, &content);
	if (r == 0 && !e.own && !content_is_empty(content))
		r = to_foreign(line, &content);
	if (r < 0 || (content != line->content && content_is_empty(content)))
		return r;
	return add_entry(b, &e, &content);
}

static int set_role(struct content *content, const char *role)
{
	char *copy = strdup(role);

	if (!copy)
		return -ENOMEM;
	free(content->role);
	content->role = copy;
	return 0;
}

/* Add a summary, as if the model had said it. */
static int add_summary(struct builder *b, const struct past_line *line)
{
	CLEANUP(content_free_p) struct content *content = NULL;
	struct entry e = { .place = { line->turn, line->at }, .own = true, .has_functions = true };
	int r = content_from_stored(line->content, &content);

	if (r == 0)
		r = set_role(content, "model");
	if (r == 0)
		r = drop_requests(b, &content);
	return r < 0 || content_is_empty(content) ? r : add_entry(b, &e, &content);
}

/* Hide answers to calls on a branch that the agent does not see. */
static int hide_calls(struct builder *b, struct span ids)
{
	struct json_scan s = json_scan_of(ids, 4, NULL);
	bool first = true;
	int r = json_open(&s, '[');

	while (r == 0 && (r = json_item(&s, &first)) == 1) {
		r = json_take_string(&s, &b->requests);
		buf_char(&b->requests, 0);
	}
	return r < 0 ? r : buf_check(&b->requests, NULL);
}

static int take_event(struct builder *b, struct cached_line *line, uint64_t turn)
{
	if (!line->content)
		return 0;
	if (is_seen(b, line->branch))
		return add_event(b, line, turn);
	return line->long_running.len ? hide_calls(b, line->long_running) : 0;
}

static int take_line(void *arg, const struct past_line *line)
{
	return line->is_summary ? add_summary(arg, line)
				: take_event(arg, line->cached, line->turn);
}

static int add_own_lines(struct line_cache *cache, struct span left)
{
	const char *newline;
	uint64_t at = 0;
	int r = 0;

	while (r == 0 && left.len && (newline = memchr(left.data, '\n', left.len))) {
		size_t len = (size_t)(newline - left.data);

		r = line_cache_add(cache, at, span_sub(left, 0, len));
		left = span_sub(left, len + 1, left.len);
		at += len + 1;
	}
	return r;
}

/* Whether another agent or the user speaks. A message that only answers calls is not news. */
static bool is_news(const struct entry *e)
{
	size_t i;

	for (i = 0; e->by_user && i < e->content->count; i++) {
		if (e->content->parts[i].kind != PART_RESPONSE)
			return true;
	}
	return !e->own;
}

/* Find the last news: with include_contents none, the history begins there. */
static size_t start_of_present(const struct entry *list, size_t count)
{
	size_t i;

	for (i = count; i-- > 0;) {
		if (is_news(&list[i]))
			return i;
	}
	return 0;
}

/* Whether an entry answers a call of another entry. */

static bool answers(const struct entry *e, const struct entry *call)
{
	size_t i;
	size_t k;

	for (i = 0; i < e->content->count; i++) {
		const struct part *p = &e->content->parts[i];

		for (k = 0; p->kind == PART_RESPONSE && p->id && k < call->content->count; k++) {
			const struct part *c = &call->content->parts[k];

			if (c->kind == PART_CALL && c->id && !strcmp(c->id, p->id))
				return true;
		}
	}
	return false;
}

/* Move entry `from` before entry `to`, with the answers to it in between. */
static int move_call(struct entry *list, size_t from, size_t to)
{
	struct entry *moved = calloc(to - from, sizeof *moved);
	size_t n = 0;
	size_t kept = from;
	size_t i;

	if (!moved)
		return -ENOMEM;
	moved[n++] = list[from];
	for (i = from + 1; i < to; i++) {
		if (answers(&list[i], &moved[0]))
			moved[n++] = list[i];
		else
			list[kept++] = list[i];
	}
	memcpy(list + kept, moved, n * sizeof *moved);
	free(moved);
	return 0;
}

/* If the newest message answers a call, move the call to it: the model must see both last. */
static int bring_call(const struct history_query *q, struct entry *list, size_t count)
{
	size_t at = 0;
	size_t i;

	while (at < count && (!list[at].own || list[at].place.turn != q->n))
		at++;
	if (at == count || is_news(&list[at]))
		return 0;
	for (i = at; i-- > 0;) {
		if (list[i].own && !list[i].by_user && answers(&list[at], &list[i]))
			return move_call(list, i, at);
	}
	return 0;
}

/* Sort entries, which mostly are in the order of their turns already. */
static void sort(struct entry *list, size_t count)
{
	size_t i = 1;

	while (i < count && past_by_place(&list[i - 1], &list[i]) <= 0)
		i++;
	if (i < count)
		qsort(list, count, sizeof *list, past_by_place);
}

static int put(const struct builder *b, struct history *out)
{
	const struct history_query *q = b->q;
	size_t count;
	struct entry *list = entries_of(b, &count);
	size_t from;
	int r;

	if (!count)
		return 0;
	sort(list, count);
	r = q->own_lines.len ? 0 : bring_call(q, list, count);
	from = q->only_present ? start_of_present(list, count) : 0;
	return r < 0 ? r : pairing_put(list + from, count - from, q->agent, out);
}

static int build_from(struct builder *b, struct past *past, struct history *out, struct err *err)
{
	int r = past_update(past, err);

	if (r == 0)
		r = past_each(past, 0, b->q->n, take_line, b, err);
	return r < 0 ? r : put(b, out);
}

static int build_of_session(struct builder *b, struct history *out, struct err *err)
{
	const struct history_query *q = b->q;
	CLEANUP(past_release) struct past fresh = { .st = q->store, .session = q->session };
	struct past *past;
	int r;

	fresh.caches = true;
	if (!q->cache)
		return build_from(b, &fresh, out, err);
	r = past_cache_get(q->cache, q->store, q->session, &past, err);
	if (r < 0)
		return r;
	r = build_from(b, past, out, err);
	past_cache_put(q->cache, past, r == 0);
	return r;
}

static int build_of_lines(struct builder *b, struct history *out)
{
	CLEANUP(line_cache_release) struct line_cache cache = { 0 };
	struct cached_line *const *lines;
	size_t count;
	size_t i;
	int r = add_own_lines(&cache, b->q->own_lines);

	lines = line_cache_lines(&cache, &count);
	for (i = 0; r == 0 && i < count; i++)
		r = take_event(b, lines[i], 0);
	return r < 0 ? r : put(b, out);
}

int history_build(const struct history_query *q, struct history *out, struct err *err)
{
	CLEANUP(builder_release)
	struct builder b = { .q = q, .agent = span_of(q->agent), .branch = span_of(q->branch) };
	int r = q->own_lines.len ? build_of_lines(&b, out) : build_of_session(&b, out, err);

	if (r < 0 && err && !err->code)
		return err_set(err, r, "the history of the session cannot be read");
	return r;
}
