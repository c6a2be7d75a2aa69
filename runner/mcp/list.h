/*
 * Lists of tools: what an MCP server offers, as it is told to models.
 */
#ifndef RUNNER_MCP_LIST_H
#define RUNNER_MCP_LIST_H

#include "runner/mcp/link.h"

struct mcp_list {
	struct mcp_tool *tools; /* sorted by name */
	size_t n;
	json_t *pages;    /* the server's answers, which the tools lie in */
	json_t *names;    /* object: offered name -> the server's, for those that differ */
	json_t *warnings; /* list of texts */
	uint64_t until;   /* monotonic ns: list again then */
	uint64_t number;  /* of the link it came over */
	atomic_uint refs;
};

/* Ask for all pages. *out is one reference. As mcp_tools() returns, or -ESTALE. */
MUST_CHECK int mcp_list_read(struct mcp_link *link, struct cancel *cancel, struct mcp_list **out,
			     struct err *err);

struct mcp_list *mcp_list_ref(struct mcp_list *list); /* NULL is fine */
void mcp_list_unref(struct mcp_list *list);           /* NULL is fine */
DEFINE_CLEANUP(struct mcp_list, mcp_list_unref);

/* The tool that the server calls so; NULL without it. */
const struct mcp_tool *mcp_list_find(const struct mcp_list *list, const char *server_name);

#endif
