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
 * Find the open call that a result answers, by its id; without an id the first call of that
 * name, else the first call. This marks the call as answered. NULL: there is no open call.
 */
const struct model_pair *model_pairs_answer(struct model_pairs *pairs, const struct part *result);

/* The id of a call, if the service gave it; NULL: no id, or one that the runner made up. */
const char *model_foreign_id(const char *id);

/* Append the id as a JSON string: its own, or "call_NUMBER". */
void model_pair_put_id(const struct model_pair *pair, struct buf *out);

#endif
