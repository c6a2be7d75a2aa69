/*
 * Offers: the tools and agents that an agent's model may call at this step.
 */
#ifndef RUNNER_TURN_OFFER_H
#define RUNNER_TURN_OFFER_H

#include "runner/turn/run.h"

struct offer {
	const struct tool **list;
	size_t count;
	struct tool **made; /* owned: tools of toolsets, and built-in ones that no entry names */
	size_t made_count;
	struct agent **targets; /* agents to transfer to */
	size_t target_count;
};

/*
 * Ask the toolsets and list the tools. out: all zero; the caller releases it, even after an error.
 * After an error run->failure says why.
 */
MUST_CHECK int offer_make(struct agent_run *run, struct offer *out);
void offer_release(struct offer *offer);

/* Find a tool, or an agent to transfer to, by its name. NULL: there is none. */
const struct tool *offer_find(const struct offer *offer, const char *name);
struct agent *offer_target(const struct offer *offer, const char *name);

#endif
