/*
 * Lists of tools: the tools of an MCP server as models see them.
 */
#ifndef RUNNER_MCP_LIST_H
#define RUNNER_MCP_LIST_H

#include "runner/mcp/link.h"

struct mcp_list {
	struct mcp_tool *tools; /* sorted by name */
	size_t n;
	json_t *pages;    /* the server's answers, which own the texts of the tools */
	json_t *names;    /* object: offered name -> the server's name */
	json_t *warnings; /* list of texts */
	uint64_t until;   /* monotonic ns: read the list again then */
	uint64_t number;  /* of the link that it came over */
	atomic_uint refs;
};

/* Ask for all pages. *out is one reference. Returns as mcp_tools(), or -ESTALE. */
MUST_CHECK int mcp_list_read(struct mcp_link *link, struct cancel *cancel, struct mcp_list **out,
			     struct err *err);

struct mcp_list *mcp_list_ref(struct mcp_list *list); /* NULL is fine */
void mcp_list_unref(struct mcp_list *list);           /* NULL is fine */
DEFINE_CLEANUP(struct mcp_list, mcp_list_unref);

/* Find a tool by the server's name of it. NULL: no such tool. */
const struct mcp_tool *mcp_list_find(const struct mcp_list *list, const char *server_name);

#endif
