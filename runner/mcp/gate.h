/*
 * Gates: locks for work that blocks, such as connecting to a server.
 *
 * Who waits at a gate also watches a cancel descriptor, and when the work of
 * the one inside fails, that is the outcome of all who waited meanwhile: they
 * do not try the same again one after the other.
 */
#ifndef RUNNER_MCP_GATE_H
#define RUNNER_MCP_GATE_H

#include "base/cancel.h"
#include "base/mutex.h"

struct mcp_gate {
	int fd; /* an eventfd that holds 1 while nobody is inside */

	struct mutex lock;
	uint64_t failures GUARDED_BY(lock);
	int failure GUARDED_BY(lock); /* the last */
	struct err reason GUARDED_BY(lock);
};

/* 0 or -errno. */
MUST_CHECK int mcp_gate_init(struct mcp_gate *gate);
void mcp_gate_release(struct mcp_gate *gate);

/* How much has failed so far: for mcp_gate_outcome(). */
uint64_t mcp_gate_failures(struct mcp_gate *gate);

/* 0: inside; -ECANCELED. */
MUST_CHECK int mcp_gate_enter(struct mcp_gate *gate, struct cancel *cancel, struct err *err);

/* How the work failed for another one since there were n failures; 0: it did not. */
int mcp_gate_outcome(struct mcp_gate *gate, uint64_t n, struct err *err);

/*
 * The work failed with r. -ECANCELED and -ESTALE, which are nothing to the
 * others, do not count.
 */
void mcp_gate_fail(struct mcp_gate *gate, int r, const struct err *reason);

void mcp_gate_leave(struct mcp_gate *gate);

#endif
