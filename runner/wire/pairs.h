/*
 * Pairs: the calls of a conversation and the results that answer them.
 *
 * Providers name calls by ids; conversations that come from elsewhere may have
 * none, so that results are found by name and order then.
 */
#ifndef RUNNER_WIRE_PAIRS_H
#define RUNNER_WIRE_PAIRS_H

#include "store/json/content.h"

struct model_pair {
	const char *id; /* borrowed of the call; NULL: it has none */
	const char *name;
	size_t number; /* of the call in the conversation, from 0 */
	bool answered;
};

/* All zero is none. Borrows the parts. */
struct model_pairs {
	struct buf list; /* of struct model_pair */
	size_t open;     /* all before this one are answered */
};

void model_pairs_release(struct model_pairs *pairs);

/* Note a call. *out is good until the next one is noted. -ENOMEM. */
MUST_CHECK int model_pairs_call(struct model_pairs *pairs, const struct part *call,
				const struct model_pair **out);

/*
 * The open call that a result answers, by its id; without one the first of that
 * name, else the first. It is answered then. NULL: there is none.
 */
const struct model_pair *model_pairs_answer(struct model_pairs *pairs, const struct part *result);

/* The id of a call or a result as it came from elsewhere; NULL: there is none, or it is ours. */
const char *model_foreign_id(const struct part *p);

/* Append the id as a JSON string: its own, or "call_NUMBER". */
void model_pair_put_id(const struct model_pair *pair, struct buf *out);

#endif
