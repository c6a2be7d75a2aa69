/*
 * History: see history.h.
 */
#include "runner/history.h"

#include "runner/pairing.h"

#include <errno.h>
#include <stdlib.h>

struct builder {
	const struct history_query *q;
	struct buf entries;  /* of struct entry */
	struct buf requests; /* ids of calls whose answers are left out, each with a NUL */
};

static struct entry *entries_of(const struct builder *b, size_t *count)
{
	*count = b->entries.len / sizeof(struct entry);
	return (struct entry *)(void *)b->entries.data;
}

static void builder_release(struct builder *b)
{
	size_t count;
	struct entry *list = entries_of(b, &count);
	size_t i;

	for (i = 0; i < count; i++) {
		content_free(list[i].content);
		free(list[i].long_running);
	}
	buf_release(&b->entries);
	buf_release(&b->requests);
}

/* Calls by which the runner asks people; no model made them. */
static bool is_request(const char *name)
{
	return name && (!strcmp(name, "adk_request_confirmation") ||
			!strcmp(name, "adk_request_credential"));
}

static bool is_requested(const struct builder *b, const char *id)
{
	size_t at = 0;

	while (id && at < b->requests.len) {
		if (!strcmp(b->requests.data + at, id))
			return true;
		at += strlen(b->requests.data + at) + 1;
	}
	return false;
}

/* Requests and their answers are not for models. */
static int drop_requests(struct builder *b, struct content *content)
{
	size_t kept = 0;
	size_t i;

	for (i = 0; i < content->count; i++) {
		struct part *p = &content->parts[i];
		bool asks = p->kind == PART_CALL && is_request(p->name);

		if (asks && p->id)
			buf_add(&b->requests, p->id, strlen(p->id) + 1);
		if (asks ||
		    (p->kind == PART_RESPONSE && (is_request(p->name) || is_requested(b, p->id))))
			part_release(p);
		else
			content->parts[kept++] = *p;
	}
	content->count = kept;
	return buf_check(&b->requests, NULL);
}

/* What another agent did becomes a story told to this one; nothing to tell: an empty one. */
static int retell(struct content **content, const char *author)
{
	CLEANUP(content_free_p) struct content *story = pairing_story();
	size_t i;
	int r = story ? 0 : -ENOMEM;

	for (i = 0; r == 0 && i < (*content)->count; i++)
		r = pairing_tell(story, author, &(*content)->parts[i]);
	if (r < 0)
		return r;
	if (story->count == 1) /* nothing but the heading */
		part_release(&story->parts[--story->count]);
	content_free(*content);
	*content = STEAL(&story);
	return 0;
}

/* Whether what was said on a branch is seen: `a.b` is above `a.b.c`, and not above `a.bc`. */
static bool is_seen(const struct builder *b, struct span branch)
{
	struct span mine = span_of(b->q->branch);

	if (!mine.len || !branch.len || span_equal(mine, branch))
		return true;
	return mine.len > branch.len && mine.data[branch.len] == '.' &&
	       !memcmp(mine.data, branch.data, branch.len);
}

static int check_branch(const struct builder *b, const struct past_line *line, bool *seen)
{
	CLEANUP(buf_release) struct buf branch = { 0 };
	int r = line->branch.len ? json_unquote(line->branch, &branch) : 0;

	*seen = is_seen(b, buf_span(&branch));
	return r;
}

/* A content goes into the list, and is taken, if it has something to show. */
static int add_entry(struct builder *b, struct entry *e, struct content **content,
		     const char *author)
{
	int r = drop_requests(b, *content);

	if (r == 0 && !e->own && !content_is_empty(*content))
		r = retell(content, author);
	if (r < 0 || content_is_empty(*content))
		return r;
	e->content = *content;
	buf_add(&b->entries, e, sizeof *e);
	if (b->entries.failed)
		return -ENOMEM;
	*content = NULL;
	return 0;
}

static int add_event(struct builder *b, const struct past_line *line)
{
	CLEANUP(content_free_p) struct content *content = NULL;
	CLEANUP(buf_release) struct buf author = { 0 };
	struct entry e = { .place = { line->turn, line->at } };
	int r = json_unquote(line->author, &author);

	if (r == 0)
		r = content_from_stored(line->content, &content);
	if (r < 0 || !buf_cstr(&author))
		return r < 0 ? r : -ENOMEM;
	if (!content->role || !*content->role)
		return 0;
	e.by_user = span_is(buf_span(&author), "user");
	e.own = e.by_user || span_is(buf_span(&author), b->q->agent);
	if (e.own && line->long_running.len) {
		e.long_running = span_dup(line->long_running);
		if (!e.long_running)
			return -ENOMEM;
	}
	r = add_entry(b, &e, &content, author.data);
	if (content)
		free(e.long_running);
	return r;
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

/* What the model itself would say of what was. */
static int add_summary(struct builder *b, const struct past_line *line)
{
	CLEANUP(content_free_p) struct content *content = NULL;
	struct entry e = { .place = { line->turn, line->at }, .own = true };
	int r = content_from_stored(line->content, &content);

	if (r == 0)
		r = set_role(content, "model");
	return r < 0 ? r : add_entry(b, &e, &content, b->q->agent);
}

/* Answers to calls on a branch that is not seen are not seen either. */
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

static int take_line(void *arg, const struct past_line *line)
{
	struct builder *b = arg;
	bool seen;
	int r;

	if (line->is_summary)
		return add_summary(b, line);
	if (!line->content.len)
		return 0;
	r = check_branch(b, line, &seen);
	if (r == 0 && !seen && line->long_running.len)
		return hide_calls(b, line->long_running);
	return r < 0 || !seen ? r : add_event(b, line);
}

static int read_own_lines(struct builder *b)
{
	struct span left = b->q->own_lines;
	const char *newline;
	uint64_t at = 0;
	int r = 0;

	while (r == 0 && left.len && (newline = memchr(left.data, '\n', left.len))) {
		size_t len = (size_t)(newline - left.data);
		struct past_line line = { .at = at };

		r = past_pick(span_sub(left, 0, len), &line);
		if (r == 0)
			r = take_line(b, &line);
		left = span_sub(left, len + 1, left.len);
		at += len + 1;
	}
	return r;
}

static int read_log(struct builder *b, struct err *err)
{
	CLEANUP(past_release) struct past past = { 0 };
	int r = past_load(&past, b->q->store, b->q->session, err);

	return r < 0 ? r : past_each(&past, 0, b->q->n, take_line, b, err);
}

/* Somebody else speaks; who only answers calls goes on with what there was. */
static bool is_news(const struct entry *e)
{
	size_t i;

	for (i = 0; e->by_user && i < e->content->count; i++) {
		if (e->content->parts[i].kind != PART_RESPONSE)
			return true;
	}
	return !e->own;
}

/* include_contents: none - what is new since this agent last answered someone. */
static size_t start_of_present(const struct entry *list, size_t count)
{
	size_t i;

	for (i = count; i-- > 0;) {
		if (is_news(&list[i]))
			return i;
	}
	return 0;
}

/* A call that the newest message answers: the model has to be told of both last */

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

/* Move entry `from` before entry `to`, with what answered it meanwhile. */
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

static int bring_call(const struct history_query *q, struct entry *list, size_t count)
{
	size_t at = 0;
	size_t i;

	while (at < count && (!list[at].by_user || list[at].place.turn != q->n))
		at++;
	if (at == count || is_news(&list[at]))
		return 0;
	for (i = at; i-- > 0;) {
		if (list[i].own && !list[i].by_user && answers(&list[at], &list[i]))
			return move_call(list, i, at);
	}
	return 0;
}

int history_build(const struct history_query *q, struct history *out, struct err *err)
{
	CLEANUP(builder_release) struct builder b = { .q = q };
	int r = q->own_lines.len ? read_own_lines(&b) : read_log(&b, err);
	struct entry *list;
	size_t count;
	size_t from;

	if (r == 0) {
		list = entries_of(&b, &count);
		if (count)
			qsort(list, count, sizeof *list, past_by_place);
		if (!q->own_lines.len)
			r = bring_call(q, list, count);
		from = q->only_present ? start_of_present(list, count) : 0;
		if (r == 0 && count)
			r = pairing_put(list + from, count - from, q->agent, out);
	}
	if (r < 0 && err && !err->code)
		return err_set(err, r, "the history of the session cannot be read");
	return r;
}

int history_add(struct history *h, struct content *content)
{
	size_t n = h->count;

	/* Grow by doubling: at every power of two. */
	if (!(n & (n - 1))) {
		struct content **list = realloc(h->contents,
						(n ? n * 2 : 1) * sizeof(struct content *));

		if (!list) {
			content_free(content);
			return -ENOMEM;
		}
		h->contents = list;
	}
	h->contents[h->count++] = content;
	return 0;
}

void history_release(struct history *h)
{
	size_t i;

	for (i = 0; i < h->count; i++)
		content_free(h->contents[i]);
	free(h->contents);
	*h = (struct history){ 0 };
}
