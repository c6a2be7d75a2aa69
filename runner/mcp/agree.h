/*
 * Which revision of MCP a server speaks: found out when a link is new.
 */
#ifndef RUNNER_MCP_AGREE_H
#define RUNNER_MCP_AGREE_H

#include "runner/mcp/link.h"

/*
 * Find out the era and agree on a version, until link->agree_by. As mcp_call()
 * returns; the link is of no use then.
 */
MUST_CHECK int mcp_agree(struct mcp_link *link, struct cancel *cancel, struct err *err);

/* The same with a server that is known to be of the legacy era. */
MUST_CHECK int mcp_agree_legacy(struct mcp_link *link, struct cancel *cancel, struct err *err);

#endif
