/*
 * History: what an agent's model sees of a session, built from its log.
 *
 * Events come in the order of their turns, without messages of later turns,
 * what was rewound, and what other branches said; summaries stand for turns
 * that were compacted. What other agents did is told as a story. Each call is
 * followed by its responses.
 */
#ifndef RUNNER_HISTORY_HISTORY_H
#define RUNNER_HISTORY_HISTORY_H

#include "store/json/content.h"
#include "store/tx/store.h"

struct history {
	struct content **contents; /* owned, with others: they are not to be changed */
	size_t count;
};

struct pasts;

/* All borrowed. */
struct history_query {
	struct store *store;
	struct ref session;
	struct pasts *pasts;  /* what was read before; NULL: nothing is kept */
	const char *agent;    /* whose model will see it */
	const char *branch;   /* NULL or "": none */
	const char *provider; /* of that model: signatures of others are left out. NULL: none are */
	bool only_present;    /* include_contents: none */
	uint64_t n;           /* of the turn */
	/*
	 * Lines of the log of a run that is not in the store (an agent as a tool). Not empty:
	 * these are the history, the store is not asked. Each line ends with a newline.
	 */
	struct span own_lines;
};

MUST_CHECK int history_build(const struct history_query *q, struct history *out, struct err *err);

/* Add a content at the end, taken in any case. -ENOMEM. */
MUST_CHECK int history_add(struct history *h, struct content *content);
void history_release(struct history *h);

#endif
