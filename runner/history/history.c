/*
 * History: see history.h.
 */
#include "runner/history/history.h"

#include "runner/history/cache.h"
#include "runner/history/pairing.h"

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
	*count = b->entries.len / sizeof(struct entry);
	return (struct entry *)(void *)b->entries.data;
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

static bool is_for_people(struct builder *b, const struct part *p)
{
	if (p->kind == PART_CALL && is_request(p->name)) {
		if (p->id)
			buf_add(&b->requests, p->id, strlen(p->id) + 1);
		return true;
	}
	return p->kind == PART_RESPONSE && (is_request(p->name) || is_requested(b, p->id));
}

/* A content that others have is changed in a copy. */
static int make_own(struct content **content)
{
	struct content *copy = content_copy(*content);

	if (!copy)
		return -ENOMEM;
	content_free(*content);
	*content = copy;
	return 0;
}

/* A signature means something to the provider that made it, and is an error to others. */
static int drop_signatures(const struct builder *b, const struct kept_line *line,
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

/* Requests and their answers are not for models. */
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

/* What another agent did becomes a story told to this one; nothing to tell: an empty one. */
static int retell(const struct content *content, const char *author, struct content **out)
{
	CLEANUP(content_free_p) struct content *story = pairing_story();
	size_t i;
	int r = story ? 0 : -ENOMEM;

	for (i = 0; r == 0 && i < content->count; i++)
		r = pairing_tell(story, author, &content->parts[i]);
	if (r < 0)
		return r;
	if (story->count == 1) /* nothing but the heading */
		part_release(&story->parts[--story->count]);
	*out = STEAL(&story);
	return 0;
}

/* Whether what was said on a branch is seen: `a.b` is above `a.b.c`, and not above `a.bc`. */
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

/* The story of a line is kept with it, unless it is told in part. */
static int tell_line(struct kept_line *line, struct content **content)
{
	CLEANUP(buf_release) struct buf author = { 0 };
	struct content *story = NULL;
	int r;

	if (*content == line->content && line->story) {
		story = content_ref(line->story);
	} else {
		buf_span_add(&author, line->author);
		r = buf_cstr(&author) ? retell(*content, author.data, &story) : -ENOMEM;
		if (r < 0)
			return r;
		if (*content == line->content)
			line->story = content_ref(story);
	}
	content_free(*content);
	*content = story;
	return 0;
}

static int add_event(struct builder *b, struct kept_line *line, uint64_t turn)
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
		r = tell_line(line, &content);
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

/* What the model itself would say of what was. */
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

static int take_event(struct builder *b, struct kept_line *line, uint64_t turn)
{
	if (!line->content)
		return 0;
	if (is_seen(b, line->branch))
		return add_event(b, line, turn);
	return line->long_running.len ? hide_calls(b, line->long_running) : 0;
}

static int take_line(void *arg, const struct past_line *line)
{
	return line->is_summary ? add_summary(arg, line) : take_event(arg, line->kept, line->turn);
}

static int keep_own_lines(struct kept *kept, struct span left)
{
	const char *newline;
	uint64_t at = 0;
	int r = 0;

	while (r == 0 && left.len && (newline = memchr(left.data, '\n', left.len))) {
		size_t len = (size_t)(newline - left.data);

		r = kept_add(kept, at, span_sub(left, 0, len));
		left = span_sub(left, len + 1, left.len);
		at += len + 1;
	}
	return r;
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

/* Lines come in the order of their turns, mostly. */
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

	fresh.keeps = true;
	if (!q->pasts)
		return build_from(b, &fresh, out, err);
	r = pasts_take(q->pasts, q->store, q->session, &past, err);
	if (r < 0)
		return r;
	r = build_from(b, past, out, err);
	pasts_give(q->pasts, past, r == 0);
	return r;
}

static int build_of_lines(struct builder *b, struct history *out)
{
	CLEANUP(kept_release) struct kept kept = { 0 };
	struct kept_line *const *lines;
	size_t count;
	size_t i;
	int r = keep_own_lines(&kept, b->q->own_lines);

	lines = kept_lines(&kept, &count);
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
