/*
 * Agreeing with a server: a new link finds out which revision of MCP it speaks.
 */
#ifndef RUNNER_MCP_AGREE_H
#define RUNNER_MCP_AGREE_H

#include "runner/mcp/link.h"

/*
 * Find out the era and agree on a version, until link->agree_by. Returns 0; -errno
 * as mcp_call(), and then the link is of no use.
 */
MUST_CHECK int mcp_agree(struct mcp_link *link, struct cancel *cancel, struct err *err);

/* Agree with a server that is known to be of the legacy era. */
MUST_CHECK int mcp_agree_legacy(struct mcp_link *link, struct cancel *cancel, struct err *err);

#endif
