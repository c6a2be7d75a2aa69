/*
 * Pairs: see pairs.h.
 */
#include "runner/wire/pairs.h"

#include "base/json_text.h"

#include <errno.h>

#define OWN_ID "adk-" /* how ids begin that the runner gave */

void model_pairs_release(struct model_pairs *pairs)
{
	buf_release(&pairs->list);
	pairs->open = 0;
}

static struct model_pair *all(const struct model_pairs *pairs, size_t *count)
{
	*count = pairs->list.len / sizeof(struct model_pair);
	return (struct model_pair *)(void *)pairs->list.data;
}

int model_pairs_call(struct model_pairs *pairs, const struct part *call,
		     const struct model_pair **out)
{
	struct model_pair pair = { .id = call->id && *call->id ? call->id : NULL,
				   .name = call->name };

	(void)all(pairs, &pair.number);
	buf_add(&pairs->list, &pair, sizeof pair);
	if (pairs->list.failed)
		return -ENOMEM;
	*out = all(pairs, &(size_t){ 0 }) + pair.number;
	return 0;
}

static struct model_pair *find(const struct model_pairs *pairs, const struct part *result)
{
	struct model_pair *other = NULL;
	struct model_pair *list;
	size_t n;
	size_t i;

	list = all(pairs, &n);
	for (i = pairs->open; i < n; i++) {
		struct model_pair *p = &list[i];

		if (p->answered)
			continue;
		if (result->id && p->id ? !strcmp(result->id, p->id)
					: !strcmp(result->name, p->name))
			return p;
		if (!other)
			other = p;
	}
	return result->id ? NULL : other;
}

const struct model_pair *model_pairs_answer(struct model_pairs *pairs, const struct part *result)
{
	struct model_pair *pair = find(pairs, result);
	struct model_pair *list;
	size_t n;

	if (!pair)
		return NULL;
	pair->answered = true;
	for (list = all(pairs, &n); pairs->open < n && list[pairs->open].answered;)
		pairs->open++;
	return pair;
}

const char *model_foreign_id(const struct part *p)
{
	bool own = p->id && strncmp(p->id, OWN_ID, strlen(OWN_ID)) == 0;

	return own || !p->id || !*p->id ? NULL : p->id;
}

void model_pair_put_id(const struct model_pair *pair, struct buf *out)
{
	if (pair->id)
		json_quote_lossy(out, span_of(pair->id));
	else
		buf_printf(out, "\"call_%zu\"", pair->number);
}
