/*
 * History: what an agent's model sees of a session, built from its log.
 */
#ifndef RUNNER_HISTORY_H
#define RUNNER_HISTORY_H

#include "runner/agent.h"
#include "store/turn.h"

struct history {
	struct content **contents; /* owned */
	size_t count;
};

/*
 * The contents for this agent in turn n: events in the order of their turns,
 * messages of later turns and what was rewound left out, each call followed
 * by its responses.
 */
MUST_CHECK int history_build(struct store *st, struct ref session, const struct agent *agent,
			     uint64_t n, struct history *out, struct err *err);
void history_release(struct history *h);

#endif
