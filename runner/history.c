/*
 * History: see history.h.
 */
#include "runner/history.h"

#include "store/rewind.h"

#include <errno.h>
#include <stdlib.h>

/* One event of the log that has something to show. */
struct entry {
	struct content *content;
	uint64_t turn; /* 0: belongs to none */
	uint64_t order;
	bool own; /* by this agent or the user */
	bool by_user;
};

struct turn_name {
	char invocation[64];
	uint64_t n;
};

struct builder {
	const struct agent *agent;
	uint64_t n;
	struct buf names;   /* of struct turn_name */
	struct buf entries; /* of struct entry */
	struct rewound rewound;
	uint64_t at;        /* of the line that comes */
	uint64_t last_turn; /* of the line before */
	size_t hint;        /* in names: where the last one was found */
};

static struct entry *entries_of(struct builder *b, size_t *count)
{
	*count = b->entries.len / sizeof(struct entry);
	return (struct entry *)(void *)b->entries.data;
}

static int note_turn(void *arg, const struct turn_info *info)
{
	struct builder *b = arg;
	struct turn_name name = { .n = info->n };

	memcpy(name.invocation, info->invocation, sizeof name.invocation);
	buf_add(&b->names, &name, sizeof name);
	return buf_check(&b->names, NULL);
}

static bool is_turn(const struct turn_name *name, struct span invocation)
{
	return span_is(invocation, name->invocation);
}

/* Lines of one turn stand together, mostly: the turn of the line before, or the next, is asked
 * first. */
static uint64_t turn_of(struct builder *b, struct span invocation)
{
	const struct turn_name *names = (const struct turn_name *)(const void *)b->names.data;
	size_t count = b->names.len / sizeof *names;
	size_t i;

	for (i = b->hint; i < count && i < b->hint + 2; i++) {
		if (is_turn(&names[i], invocation)) {
			b->hint = i;
			return names[i].n;
		}
	}
	for (i = count; i-- > 0;) {
		if (is_turn(&names[i], invocation)) {
			b->hint = i;
			return names[i].n;
		}
	}
	return 0;
}

/* Something a model can see: a part that is not an empty text. */
static bool has_substance(const struct content *content)
{
	size_t i;

	for (i = 0; i < content->count; i++) {
		const struct part *p = &content->parts[i];

		if (p->kind != PART_TEXT || p->text.len || p->signature)
			return true;
	}
	return false;
}

static int tell(struct content *out, const char *format, const char *author, const char *name,
		struct span what)
{
	struct part *p = content_add(out, PART_TEXT);

	if (!p)
		return -ENOMEM;
	buf_printf(&p->text, format, author, name);
	buf_span_add(&p->text, what);
	return buf_check(&p->text, NULL);
}

/* What another agent did becomes a story told to this one. */
static int retell(struct content **content, const char *author)
{
	CLEANUP(content_free_p) struct content *out = content_new("user");
	CLEANUP(content_free_p) struct content *copy = content_copy(*content);
	size_t i;
	int r;

	if (!out || !copy)
		return -ENOMEM;
	r = tell(out, "For context:%.0s%.0s", "", "", SPAN(""));
	for (i = 0; r == 0 && i < copy->count; i++) {
		struct part *p = &copy->parts[i];
		struct span json = span_of(p->json ? p->json : "");

		if (p->thought)
			continue;
		if (p->kind == PART_TEXT) {
			r = tell(out, "[%s] said: %.0s", author, "", buf_span(&p->text));
		} else if (p->kind == PART_CALL) {
			r = tell(out, "[%s] called tool `%s` with parameters: ", author, p->name,
				 json);
		} else if (p->kind == PART_RESPONSE) {
			r = tell(out, "[%s] `%s` tool returned result: ", author, p->name, json);
		} else {
			struct part *moved = content_add(out, p->kind);

			if (!moved)
				return -ENOMEM;
			*moved = *p;
			*p = (struct part){ .kind = PART_OTHER };
		}
	}
	if (r < 0)
		return r;
	if (out->count == 1) /* nothing but the heading */
		part_release(&out->parts[--out->count]);
	content_free(*content);
	*content = STEAL(&out);
	return 0;
}

/* The members of a stored line that count here, as text. */
struct line {
	struct span content;
	struct span author;
	struct span invocation;
	uint64_t at; /* in the log */
};

static int pick_member(void *arg, struct span key, struct span value)
{
	struct line *line = arg;

	if (span_is(key, "content"))
		line->content = value;
	else if (span_is(key, "author"))
		line->author = value;
	else if (span_is(key, "invocationId"))
		line->invocation = value;
	return 0;
}

static int add_event(struct builder *b, const struct line *line)
{
	CLEANUP(content_free_p) struct content *content = NULL;
	CLEANUP(buf_release) struct buf author = { 0 };
	CLEANUP(buf_release) struct buf invocation = { 0 };
	struct entry entry = { .order = b->entries.len };
	int r = json_unquote(line->invocation, &invocation);

	if (r == 0)
		r = json_unquote(line->author, &author);
	if (r < 0 || !buf_cstr(&author))
		return -ENOMEM;
	if (rewound_hides(&b->rewound, buf_span(&invocation), line->at))
		return 0;
	entry.turn = turn_of(b, buf_span(&invocation));
	if (!entry.turn)
		entry.turn = b->last_turn;
	else if (entry.turn <= b->n)
		b->last_turn = entry.turn;
	if (!line->content.len || entry.turn > b->n)
		return 0;
	r = content_from_stored(line->content, &content);
	if (r < 0)
		return r;
	if (!content->role || !*content->role || !has_substance(content))
		return 0;
	entry.by_user = span_is(buf_span(&author), "user");
	entry.own = entry.by_user || span_is(buf_span(&author), b->agent->name);
	if (!entry.own) {
		r = retell(&content, author.data);
		if (r < 0 || !content->count)
			return r;
	}
	entry.content = STEAL(&content);
	buf_add(&b->entries, &entry, sizeof entry);
	return buf_check(&b->entries, NULL);
}

static int take_line(void *arg, struct span text)
{
	struct builder *b = arg;
	struct line line = { .at = b->at };
	int r = json_each(text, pick_member, &line);

	b->at += text.len + 1;
	return r < 0 ? r : add_event(b, &line);
}

static int by_turn(const void *a, const void *b)
{
	const struct entry *x = a;
	const struct entry *y = b;

	if (x->turn != y->turn)
		return x->turn < y->turn ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static bool calls(const struct content *c, const char *id)
{
	size_t i;

	for (i = 0; i < c->count; i++) {
		const struct part *p = &c->parts[i];

		if (p->kind == PART_CALL && p->id && !strcmp(p->id, id))
			return true;
	}
	return false;
}

/* Move the response to a call out of the entries behind it; the last one wins. */
static bool take_response(struct entry *list, size_t count, const char *id, struct part *out)
{
	bool found = false;
	size_t i;
	size_t k;

	for (i = 0; i < count; i++) {
		struct content *c = list[i].content;

		if (calls(c, id))
			break; /* what follows answers that call */
		for (k = 0; k < c->count; k++) {
			struct part *p = &c->parts[k];

			if (p->kind != PART_RESPONSE || !p->id || strcmp(p->id, id) != 0)
				continue;
			part_release(out);
			*out = *p;
			*p = (struct part){ .kind = PART_TEXT };
			found = true;
		}
	}
	return found;
}

static int add_response(struct content *answers, const struct part *call, struct entry *rest,
			size_t count)
{
	struct part response = { 0 };
	struct part *p;

	if (!call->id || !take_response(rest, count, call->id, &response))
		return content_add_function(answers, PART_RESPONSE, call->id, call->name,
					    SPAN("{\"error\":\"no result was recorded\"}"));
	p = content_add(answers, PART_RESPONSE);
	if (!p)
		return -ENOMEM;
	*p = response;
	return 0;
}

static int push(struct history *h, struct content *content)
{
	size_t n = h->count;

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

/* Put each content into the history, calls followed by their responses. */
static int pair(struct entry *list, size_t count, struct history *out)
{
	size_t i;
	size_t k;
	int r = 0;

	for (i = 0; r == 0 && i < count; i++) {
		struct content *c = STEAL(&list[i].content);
		CLEANUP(content_free_p) struct content *answers = NULL;

		if (!has_substance(c)) { /* its responses were moved to their calls */
			content_free(c);
			continue;
		}
		r = push(out, c);
		if (r < 0 || !list[i].own || !content_has(c, PART_CALL))
			continue;
		answers = content_new("user");
		if (!answers)
			return -ENOMEM;
		for (k = 0; r == 0 && k < c->count; k++) {
			if (c->parts[k].kind == PART_CALL)
				r = add_response(answers, &c->parts[k], list + i + 1,
						 count - i - 1);
		}
		if (r == 0)
			r = push(out, STEAL(&answers));
	}
	return r;
}

/* include_contents: none - what is new since this agent last answered someone. */
static size_t start_of_present(const struct entry *list, size_t count)
{
	size_t i;

	for (i = count; i-- > 0;) {
		if (list[i].by_user || !list[i].own)
			return i;
	}
	return 0;
}

int history_build(struct store *st, struct ref session, const struct agent *agent, uint64_t n,
		  struct history *out, struct err *err)
{
	struct builder b = { .agent = agent, .n = n };
	struct scope_info info;
	struct entry *list;
	size_t count;
	size_t from = 0;
	size_t i;
	int r = scope_stat(st, session, &info, err);

	if (r == 0)
		r = rewound_load(&b.rewound, st, session, &info, err);
	if (r == 0)
		r = turn_list(st, session, 0, note_turn, &b, err);
	if (r == 0)
		r = session_lines(st, session, 0, info.log_size, take_line, &b, err);
	list = entries_of(&b, &count);
	if (r == 0) {
		if (count)
			qsort(list, count, sizeof *list, by_turn);
		from = agent->no_history ? start_of_present(list, count) : 0;
		r = pair(list + from, count - from, out);
	}
	for (i = 0; i < count; i++)
		content_free(list[i].content);
	buf_release(&b.entries);
	buf_release(&b.names);
	rewound_release(&b.rewound);
	if (r < 0 && err && !err->code)
		return err_set(err, r, "the history of the session cannot be read");
	return r;
}

void history_release(struct history *h)
{
	size_t i;

	for (i = 0; i < h->count; i++)
		content_free(h->contents[i]);
	free(h->contents);
	*h = (struct history){ 0 };
}
