/*
 * Contents of a history: see contents.h.
 */
#include "runner/history/contents.h"

#include <errno.h>
#include <stdlib.h>

int history_add(struct history *h, struct content *content)
{
	struct content **list = h->contents;
	size_t n = h->count;

	/* Grow by doubling: at every power of two. */
	if (content && !(n & (n - 1)))
		list = realloc(h->contents, (n ? n * 2 : 1) * sizeof(struct content *));
	if (!content || !list) {
		content_free(content);
		return -ENOMEM;
	}
	h->contents = list;
	list[h->count++] = content;
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

struct content *foreign_new(void)
{
	CLEANUP(content_free_p) struct content *foreign = content_new("user");
	struct part *heading = foreign ? content_add(foreign, PART_TEXT) : NULL;

	if (!heading)
		return NULL;
	buf_text(&heading->text, "For context:");
	return heading->text.failed ? NULL : STEAL(&foreign);
}

static int quote(struct content *foreign, const char *format, const char *author, const char *name,
		 struct span what)
{
	struct part *p = content_add(foreign, PART_TEXT);

	if (!p)
		return -ENOMEM;
	buf_printf(&p->text, format, author, name);
	buf_span_add(&p->text, what);
	return buf_check(&p->text, NULL);
}

int foreign_add(struct content *foreign, const char *author, const struct part *p)
{
	struct span json = span_of(p->json ? p->json : "");
	struct part *copy;

	if (p->thought)
		return 0;
	if (p->kind == PART_TEXT)
		return quote(foreign, "[%s] said: %.0s", author, "", buf_span(&p->text));
	if (p->kind == PART_CALL)
		return quote(foreign, "[%s] called tool `%s` with parameters: ", author, p->name,
			     json);
	if (p->kind == PART_RESPONSE)
		return quote(foreign, "[%s] `%s` tool returned result: ", author, p->name, json);
	copy = content_add(foreign, p->kind);
	return copy ? part_copy(copy, p) : -ENOMEM;
}
