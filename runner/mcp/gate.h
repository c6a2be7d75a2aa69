/*
 * Gates: locks for work that blocks, such as connecting to a server.
 *
 * A caller that waits at a gate watches its cancel descriptor, too. If the work of the
 * caller inside fails, all callers that waited meanwhile get that failure: they do not
 * repeat the work one after the other.
 */
#ifndef RUNNER_MCP_GATE_H
#define RUNNER_MCP_GATE_H

#include "base/cancel.h"
#include "base/mutex.h"

struct mcp_gate {
	int fd; /* an eventfd that holds 1 while nobody is inside */

	struct mutex lock;
	uint64_t failures GUARDED_BY(lock); /* how many so far */
	int failure GUARDED_BY(lock);       /* the last one: -errno */
	struct err reason GUARDED_BY(lock);
};

/* Whether the result is there already; if so, the function has put it into arg. */
typedef bool mcp_gate_find_fn(void *arg);

/* Make the result and put it into arg. 0 or -errno with err. May block. */
typedef int mcp_gate_make_fn(void *arg, struct cancel *cancel, struct err *err);

/* Open a gate with nobody inside. 0 or -errno. */
MUST_CHECK int mcp_gate_init(struct mcp_gate *gate);

/* Close its descriptor. Nobody may be at the gate. */
void mcp_gate_release(struct mcp_gate *gate);

/*
 * Get a result that one caller makes for all. find() is called outside of the
 * gate and again inside; when the result is missing both times, make() is
 * called inside.
 *
 * Returns 0; -ECANCELED; what make() returned here, or for another caller while
 * this one waited. Failures with -ECANCELED or -ESTALE concern only the caller
 * that had them. Any thread; blocks.
 */
MUST_CHECK int mcp_gate_once(struct mcp_gate *gate, struct cancel *cancel, mcp_gate_find_fn *find,
			     mcp_gate_make_fn *make, void *arg, struct err *err);

#endif
