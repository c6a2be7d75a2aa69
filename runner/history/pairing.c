/*
 * Pairing: see pairing.h.
 *
 * First all calls and responses are listed: a response belongs to the last call before it that has
 * its id. Then each content is put out without its responses, and followed by the responses to its
 * calls. A content that does not change is shared.
 */
#include "runner/history/pairing.h"

#include "base/json_text.h"
#include "runner/history/contents.h"

#include <errno.h>
#include <stdlib.h>

/* A call or a response. */
struct link {
	const char *id; /* NULL: none */
	size_t entry;
	size_t part;
	bool is_call;
	bool is_paired;            /* a response that has a call */
	const struct link *answer; /* of a call; NULL: none */
};

/* The entries, and the links that were found in them. */
struct pairing {
	const struct entry *list;
	size_t count;
	const char *agent;
	struct buf links; /* of struct link, as they stand */
	size_t next;      /* of the links: the first of the next entry */
};

static struct link *links_of(const struct pairing *p, size_t *count)
{
	return BUF_LIST(struct link, &p->links, count);
}

static void pairing_release(struct pairing *p)
{
	buf_release(&p->links);
}

static const struct content *content_of(const struct pairing *p, const struct link *link)
{
	return p->list[link->entry].content;
}

static const struct part *part_of(const struct pairing *p, const struct link *link)
{
	return &content_of(p, link)->parts[link->part];
}

static void list_links_of(struct pairing *p, size_t entry)
{
	const struct content *c = p->list[entry].content;
	size_t i;

	for (i = 0; i < c->count; i++) {
		const struct part *part = &c->parts[i];
		struct link link = { .id = part->id && *part->id ? part->id : NULL,
				     .entry = entry,
				     .part = i,
				     .is_call = part->kind == PART_CALL };

		if (link.is_call || part->kind == PART_RESPONSE)
			buf_add(&p->links, &link, sizeof link);
	}
}

static int list_links(struct pairing *p)
{
	size_t i;

	for (i = 0; i < p->count; i++) {
		if (p->list[i].has_functions)
			list_links_of(p, i);
	}
	return buf_check(&p->links, NULL);
}

/* The last call of each id. The table is made when a response does not stand near its call. */
struct table {
	struct link **slots;
	size_t size;   /* a power of two, and never full; 0: there is none yet */
	size_t listed; /* links that it knows */
};

static struct link **slot_of(const struct table *t, const char *id)
{
	size_t at = span_hash(span_of(id)) & (t->size - 1);

	while (t->slots[at] && strcmp(t->slots[at]->id, id) != 0)
		at = (at + 1) & (t->size - 1);
	return &t->slots[at];
}

static int table_init(struct table *t, size_t links)
{
	t->size = 2;
	while (t->size < links * 2)
		t->size *= 2;
	t->slots = calloc(t->size, sizeof(struct link *));
	return t->slots ? 0 : -ENOMEM;
}

/* Find the call of a response by its id; *out NULL: none. */
static int find_far(struct table *t, struct link *links, size_t count, size_t response,
		    struct link **out)
{
	int r = t->size ? 0 : table_init(t, count);

	for (; r == 0 && t->listed < response; t->listed++) {
		struct link *link = &links[t->listed];

		if (link->is_call && link->id)
			*slot_of(t, link->id) = link;
	}
	if (r == 0)
		*out = *slot_of(t, links[response].id);
	return r;
}

#define NEARBY 4 /* links */

static struct link *find_nearby(struct link *links, size_t response)
{
	size_t end = response - MIN(response, NEARBY);
	size_t i;

	for (i = response; i-- > end;) {
		if (links[i].is_call && links[i].id && !strcmp(links[i].id, links[response].id))
			return &links[i];
	}
	return NULL;
}

static int match(struct pairing *p)
{
	size_t count;
	struct link *links = links_of(p, &count);
	struct table table = { 0 };
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < count; i++) {
		struct link *call;

		if (links[i].is_call || !links[i].id)
			continue;
		call = find_nearby(links, i);
		if (!call)
			r = find_far(&table, links, count, i, &call);
		if (r == 0 && call) {
			links[i].is_paired = true;
			call->answer = &links[i];
		}
	}
	free(table.slots);
	return r;
}

/*
 * Split a content without its responses from those of them that have no call here, which are
 * quoted. *foreign, *rest: NULL when there is nothing.
 */
static int take_out(const struct content *c, const struct link *links, const char *author,
		    struct content **foreign, struct content **rest)
{
	CLEANUP(content_free_p) struct content *quoted = NULL;
	CLEANUP(content_free_p) struct content *left = NULL;
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < c->count; i++) {
		const struct part *part = &c->parts[i];
		const struct link *link = NULL;
		struct part *copy;

		if (part->kind == PART_CALL || part->kind == PART_RESPONSE)
			link = links++;
		if (part->kind != PART_RESPONSE) {
			if (!left)
				left = content_new(c->role);
			copy = left ? content_add(left, PART_TEXT) : NULL;
			r = copy ? part_copy(copy, part) : -ENOMEM;
		} else if (!link->is_paired && part->name) {
			if (!quoted)
				quoted = foreign_new();
			r = quoted ? foreign_add(quoted, author, part) : -ENOMEM;
		}
	}
	*foreign = STEAL(&quoted);
	*rest = STEAL(&left);
	return r;
}

bool pairing_lists(struct span list, const char *id)
{
	CLEANUP(buf_release) struct buf listed = { 0 };
	struct json_scan s = json_scan_of(list, 4, NULL);
	bool first = true;

	if (!list.len || !id || json_open(&s, '[') < 0)
		return false;
	while (json_item(&s, &first) == 1) {
		buf_clear(&listed);
		if (json_take_string(&s, &listed) < 0)
			break;
		if (span_is(buf_span(&listed), id))
			return true;
	}
	return false;
}

static int add_answer(struct content *answers, const struct pairing *p, const struct link *call)
{
	const struct part *asked = part_of(p, call);
	const struct part *answer = call->answer ? part_of(p, call->answer) : NULL;
	struct span missing = SPAN("{\"error\":\"no result was recorded\"}");
	struct part *copy;

	if (!answer || !answer->name) {
		if (pairing_lists(p->list[call->entry].long_running, call->id))
			missing = SPAN(PAIRING_PENDING);
		return content_add_function(answers, PART_RESPONSE, asked->id, asked->name,
					    missing);
	}
	copy = content_add(answers, PART_RESPONSE);
	return copy ? part_copy(copy, answer) : -ENOMEM;
}

/* The content that already has the answers to these calls in their order, or NULL. */
static struct content *find_answers(const struct pairing *p, const struct link *calls, size_t n)
{
	const struct link *first = calls->answer; /* NULL in a response */
	struct content *c = first ? p->list[first->entry].content : NULL;
	size_t i;

	if (!c || c->count != n || !c->role || strcmp(c->role, "user") != 0)
		return NULL;
	for (i = 0; i < n; i++) {
		const struct link *answer = calls[i].answer;

		if (!answer || answer->entry != first->entry || answer->part != i ||
		    !c->parts[i].name)
			return NULL;
	}
	return c;
}

/* Put the answers to the calls among these links of a content. */
static int put_answers(const struct pairing *p, const struct link *links, size_t n,
		       struct history *out)
{
	struct content *found = find_answers(p, links, n);
	CLEANUP(content_free_p)
	struct content *answers = found ? content_ref(found) : content_new("user");
	size_t i;
	int r = answers ? 0 : -ENOMEM;

	for (i = 0; r == 0 && !found && i < n; i++)
		r = links[i].is_call ? add_answer(answers, p, &links[i]) : 0;
	return r < 0 ? r : history_add(out, STEAL(&answers));
}

/* Put an entry with calls or responses, which are these n links. */
static int put_linked(const struct pairing *p, const struct entry *e, const struct link *links,
		      size_t n, struct history *out)
{
	CLEANUP(content_free_p) struct content *foreign = NULL;
	CLEANUP(content_free_p) struct content *rest = NULL;
	size_t calls = 0;
	size_t i;
	int r = 0;

	for (i = 0; i < n; i++)
		calls += links[i].is_call;
	if (calls == n)
		rest = content_ref(e->content);
	else
		r = take_out(e->content, links, e->by_user ? "user" : p->agent, &foreign, &rest);
	if (r == 0 && foreign)
		r = history_add(out, STEAL(&foreign));
	if (r < 0 || !rest || content_is_empty(rest))
		return r;
	r = history_add(out, STEAL(&rest));
	return r < 0 || !calls ? r : put_answers(p, links, n, out);
}

static int put_entry(struct pairing *p, size_t i, struct history *out)
{
	const struct entry *e = &p->list[i];
	size_t count;
	const struct link *links = links_of(p, &count);
	size_t first = p->next;

	while (p->next < count && links[p->next].entry == i)
		p->next++;
	if (p->next == first)
		return history_add(out, content_ref(e->content));
	return put_linked(p, e, links + first, p->next - first, out);
}

int pairing_put(const struct entry *list, size_t count, const char *agent, struct history *out)
{
	CLEANUP(pairing_release)
	struct pairing p = { .list = list, .count = count, .agent = agent };
	size_t i;
	int r = list_links(&p);

	if (r == 0)
		r = match(&p);
	for (i = 0; r == 0 && i < count; i++)
		r = put_entry(&p, i, out);
	return r;
}
