/*
 * Contents of a history: see contents.h.
 */
#include "runner/history/contents.h"

#include <errno.h>
#include <stdlib.h>

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
