/*
 * History: what an agent's model sees of a session, built from its log.
 *
 * Events come in the order of their turns, without messages of later turns, events that were
 * rewound, and events of other branches; summaries stand for turns that were compacted. Texts and
 * calls of other agents are quoted (contents.h). Each call is followed by its responses.
 */
#ifndef RUNNER_HISTORY_HISTORY_H
#define RUNNER_HISTORY_HISTORY_H

#include "runner/history/contents.h"
#include "store/tx/store.h"

struct past_cache;

/* All borrowed. */
struct history_query {
	struct store *store;
	struct ref session;
	struct past_cache *cache; /* NULL: read everything */
	const char *agent;        /* whose model will see it */
	const char *branch;       /* NULL or "": none */
	const char *provider; /* of that model: signatures of others are left out. NULL: none are */
	bool only_present;    /* include_contents: none */
	uint64_t n;           /* of the turn */
	/*
	 * The log of an agent that is called as a tool, which is not in the store. Not empty: the
	 * history is made of these lines, each with its newline.
	 */
	struct span own_lines;
};

/* Make the contents. out: all zero. -ENOENT: the session is gone; -ENOMEM; of the store. */
MUST_CHECK int history_build(const struct history_query *q, struct history *out, struct err *err);

#endif
