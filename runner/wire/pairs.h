/*
 * Pairs: the calls of a conversation and the results that answer them.
 *
 * Providers name calls by ids. Conversations from elsewhere may have no ids; then
 * results are found by name and order.
 */
#ifndef RUNNER_WIRE_PAIRS_H
#define RUNNER_WIRE_PAIRS_H

#include "store/json/content.h"

struct model_pair {
	const char *id; /* borrowed from the call; NULL: it has no id */
	const char *name;
	size_t number; /* position of the call in the conversation, from 0 */
	bool answered;
};

/* The pairs of a conversation. All zero is an empty list. Borrows the parts. */
struct model_pairs {
	struct buf list; /* of struct model_pair */
	size_t open;     /* index of the first call that is not answered */
};

void model_pairs_release(struct model_pairs *pairs);

/* Add a call. *out is valid until the next call is added. -ENOMEM. */
MUST_CHECK int model_pairs_call(struct model_pairs *pairs, const struct part *call,
				const struct model_pair **out);

/*
 * Find the open call that a result answers, and mark it as answered: the call with its id; for a
 * result without an id the first call of that name, else the first call. NULL: no call fits.
 */
const struct model_pair *model_pairs_answer(struct model_pairs *pairs, const struct part *result);

/* The id of a call, if the service gave it; NULL: no id, or one that the runner made up. */
const char *model_foreign_id(const char *id);

/* Append the call's id as a JSON string; "call_NUMBER" for a call without an id. */
void model_pair_put_id(const struct model_pair *pair, struct buf *out);

#endif
