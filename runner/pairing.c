/*
 * Pairing: see pairing.h.
 *
 * All calls and responses are listed where they stand, and in order of their
 * ids: a response belongs to the last call before it that has its id. Then
 * responses are moved to their calls, and contents are put out as they stand.
 */
#include "runner/pairing.h"

#include "base/jsontext.h"

#include <errno.h>
#include <stdlib.h>

/* A call or a response. */
struct link {
	const char *id;
	size_t entry;
	size_t part;
	bool is_call;
	struct part answer; /* of a call: moved here; without a name: none yet */
};

struct content *pairing_story(void)
{
	CLEANUP(content_free_p) struct content *story = content_new("user");
	struct part *heading = story ? content_add(story, PART_TEXT) : NULL;

	if (!heading)
		return NULL;
	buf_text(&heading->text, "For context:");
	return heading->text.failed ? NULL : STEAL(&story);
}

static int tell_text(struct content *story, const char *format, const char *author,
		     const char *name, struct span what)
{
	struct part *p = content_add(story, PART_TEXT);

	if (!p)
		return -ENOMEM;
	buf_printf(&p->text, format, author, name);
	buf_span_add(&p->text, what);
	return buf_check(&p->text, NULL);
}

int pairing_tell(struct content *story, const char *author, struct part *p)
{
	struct span json = span_of(p->json ? p->json : "");
	struct part *moved;

	if (p->thought)
		return 0;
	if (p->kind == PART_TEXT)
		return tell_text(story, "[%s] said: %.0s", author, "", buf_span(&p->text));
	if (p->kind == PART_CALL)
		return tell_text(story, "[%s] called tool `%s` with parameters: ", author, p->name,
				 json);
	if (p->kind == PART_RESPONSE)
		return tell_text(story, "[%s] `%s` tool returned result: ", author, p->name, json);
	moved = content_add(story, p->kind);
	if (!moved)
		return -ENOMEM;
	*moved = *p;
	*p = (struct part){ .kind = PART_OTHER };
	return 0;
}

/* The list in the making. */
struct pairing {
	struct entry *list;
	size_t count;
	const char *agent;
	struct buf links; /* of struct link, as they stand */
	size_t next;      /* of the links: that of the next entry */
};

static struct link *links_of(const struct pairing *p, size_t *count)
{
	*count = p->links.len / sizeof(struct link);
	return (struct link *)(void *)p->links.data;
}

static void pairing_release(struct pairing *p)
{
	size_t count;
	struct link *links = links_of(p, &count);
	size_t i;

	for (i = 0; i < count; i++)
		part_release(&links[i].answer);
	buf_release(&p->links);
}

static int list_links(struct pairing *p)
{
	size_t i;
	size_t k;

	for (i = 0; i < p->count; i++) {
		const struct content *c = p->list[i].content;

		for (k = 0; k < c->count; k++) {
			const struct part *part = &c->parts[k];
			struct link link = { .id = part->id,
					     .entry = i,
					     .part = k,
					     .is_call = part->kind == PART_CALL };

			if (link.is_call || part->kind == PART_RESPONSE)
				buf_add(&p->links, &link, sizeof link);
		}
	}
	return buf_check(&p->links, NULL);
}

static int by_id(const void *a, const void *b)
{
	const struct link *x = *(const struct link *const *)a;
	const struct link *y = *(const struct link *const *)b;
	int order = strcmp(x->id, y->id);

	return order ? order : x < y ? -1 : x > y;
}

/* Those with an id, sorted by it. */
static int sort_links(const struct pairing *p, struct buf *out)
{
	size_t count;
	struct link *links = links_of(p, &count);
	size_t i;

	for (i = 0; i < count; i++) {
		struct link *link = &links[i];

		if (link->id && *link->id)
			buf_add(out, &link, sizeof link);
	}
	if (out->len && !out->failed)
		qsort(out->data, out->len / sizeof links, sizeof links, by_id);
	return buf_check(out, NULL);
}

/* Move the answer out; what is left in its place is a response without a name. */
static void take_answer(const struct pairing *p, struct link *call, const struct link *response)
{
	struct part *part = &p->list[response->entry].content->parts[response->part];

	part_release(&call->answer);
	call->answer = *part;
	*part = (struct part){ .kind = PART_RESPONSE };
}

static int match(struct pairing *p)
{
	CLEANUP(buf_release) struct buf sorted = { 0 };
	struct link *const *links;
	struct link *call = NULL;
	int r = list_links(p);
	size_t i;

	if (r == 0)
		r = sort_links(p, &sorted);
	links = (struct link *const *)(void *)sorted.data;
	for (i = 0; r == 0 && i < sorted.len / sizeof *links; i++) {
		if (call && strcmp(call->id, links[i]->id) != 0)
			call = NULL;
		if (links[i]->is_call)
			call = links[i];
		else if (call)
			take_answer(p, call, links[i]);
	}
	return r;
}

/*
 * Take the responses out of a content. Those that were moved are gone; what is left has no
 * call here, and is told. *story: NULL when there is nothing to tell.
 */
static int take_out(struct content *c, const char *author, struct content **story)
{
	CLEANUP(content_free_p) struct content *told = NULL;
	size_t kept = 0;
	size_t i;
	int r = 0;

	for (i = 0; i < c->count; i++) {
		struct part part = c->parts[i];

		if (part.kind != PART_RESPONSE) {
			c->parts[kept++] = part;
			continue;
		}
		if (r == 0 && part.name && !told)
			r = (told = pairing_story()) ? 0 : -ENOMEM;
		if (r == 0 && part.name)
			r = pairing_tell(told, author, &part);
		part_release(&part);
	}
	c->count = kept;
	*story = STEAL(&told);
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

static int add_answer(struct content *answers, const struct entry *e, const struct part *call,
		      struct part *answer)
{
	struct span missing = SPAN("{\"error\":\"no result was recorded\"}");
	struct part *p;

	if (pairing_lists(span_of(e->long_running), call->id))
		missing = SPAN(PAIRING_PENDING);
	if (!answer->name)
		return content_add_function(answers, PART_RESPONSE, call->id, call->name, missing);
	p = content_add(answers, PART_RESPONSE);
	if (!p)
		return -ENOMEM;
	*p = *answer;
	*answer = (struct part){ 0 };
	return 0;
}

/* The answers to the calls of entry i, whose content is c. */
static int put_answers(struct pairing *p, size_t i, const struct content *c, struct history *out)
{
	CLEANUP(content_free_p) struct content *answers = content_new("user");
	size_t count;
	struct link *links = links_of(p, &count);
	size_t k;
	int r = answers ? 0 : -ENOMEM;

	for (k = 0; r == 0 && k < c->count; k++) {
		if (c->parts[k].kind != PART_CALL)
			continue;
		while (links[p->next].entry != i || !links[p->next].is_call)
			p->next++;
		r = add_answer(answers, &p->list[i], &c->parts[k], &links[p->next++].answer);
	}
	return r < 0 ? r : history_add(out, STEAL(&answers));
}

static int put_entry(struct pairing *p, size_t i, struct history *out)
{
	struct entry *e = &p->list[i];
	CLEANUP(content_free_p) struct content *story = NULL;
	struct content *c = e->content;
	int r = take_out(c, e->by_user ? "user" : p->agent, &story);

	if (r == 0 && story)
		r = history_add(out, STEAL(&story));
	if (r < 0 || content_is_empty(c))
		return r;
	e->content = NULL;
	r = history_add(out, c);
	return r < 0 || !content_has(c, PART_CALL) ? r : put_answers(p, i, c, out);
}

int pairing_put(struct entry *list, size_t count, const char *agent, struct history *out)
{
	CLEANUP(pairing_release)
	struct pairing p = { .list = list, .count = count, .agent = agent };
	size_t i;
	int r = match(&p);

	for (i = 0; r == 0 && i < count; i++)
		r = put_entry(&p, i, out);
	return r;
}
