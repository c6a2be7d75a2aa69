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

int model_pairs_call(struct model_pairs *pairs, const struct part *call,
		     const struct model_pair **out)
{
	struct model_pair pair = { .id = call->id && *call->id ? call->id : NULL,
				   .name = call->name };

	(void)BUF_LIST(struct model_pair, &pairs->list, &pair.number);
	buf_add(&pairs->list, &pair, sizeof pair);
	if (pairs->list.failed)
		return -ENOMEM;
	*out = BUF_LIST(struct model_pair, &pairs->list, NULL) + pair.number;
	return 0;
}

static struct model_pair *find(const struct model_pairs *pairs, const struct part *result)
{
	struct model_pair *other = NULL;
	size_t n;
	struct model_pair *list = BUF_LIST(struct model_pair, &pairs->list, &n);
	size_t i;

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
	size_t n;
	const struct model_pair *list = BUF_LIST(struct model_pair, &pairs->list, &n);

	if (!pair)
		return NULL;
	pair->answered = true;
	while (pairs->open < n && list[pairs->open].answered)
		pairs->open++;
	return pair;
}

const char *model_foreign_id(const char *id)
{
	return !id || !*id || strncmp(id, OWN_ID, strlen(OWN_ID)) == 0 ? NULL : id;
}

void model_pair_put_id(const struct model_pair *pair, struct buf *out)
{
	if (pair->id)
		json_quote_lossy(out, span_of(pair->id));
	else
		buf_printf(out, "\"call_%zu\"", pair->number);
}
