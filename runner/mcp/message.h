/*
 * Messages of MCP: JSON-RPC 2.0, written and read. Numbers keep their digits.
 */
#ifndef RUNNER_MCP_MESSAGE_H
#define RUNNER_MCP_MESSAGE_H

#include "runner/mcp/link.h"

#define MCP_CLIENT_INFO "{\"name\":\"adkfs\",\"version\":\"" ADKFS_VERSION "\"}"

enum mcp_kind {
	MCP_ASKS,   /* a request of the server: has `method` and an id */
	MCP_TELLS,  /* a notification: has `method` */
	MCP_ANSWER, /* all other JSON; a valid answer has `result` or `error` */
};

struct mcp_message {
	enum mcp_kind kind;
	struct span id;     /* JSON text as it came; empty: no valid id */
	struct buf method;  /* decoded */
	struct span params; /* JSON text, empty: none */
	struct span result;
	struct span error;
};

void mcp_message_release(struct mcp_message *m);

/* Read a message; its spans lie in the text. Returns 0; -EINVAL: not JSON; -ENOMEM. */
MUST_CHECK int mcp_message_read(struct span text, struct mcp_message *m);

/*
 * Append a text with invalid UTF-8 and lone surrogates replaced by U+FFFD, to be
 * read a second time. 0 or -ENOMEM.
 */
MUST_CHECK int mcp_message_mend(struct span text, struct buf *out);

/* The number in an id or a progressToken. 0: not one of our ids. */
uint64_t mcp_message_id(struct span id);

/* Guess the id of a broken message: look near its start and at its end. 0: none found. */
uint64_t mcp_message_guess(struct span text);

/* The id of the request that a progress notification is about; 0 for other messages. */
uint64_t mcp_message_progress(const struct mcp_message *m);

/* Note in the link that a notification reports a change of the list of tools. */
void mcp_message_note(struct mcp_link *link, const struct mcp_message *m);

/* Move the result or the refusal of an answer to rq. Returns as `ask` of struct mcp_transport. */
MUST_CHECK int mcp_message_take(const struct mcp_link *link, const struct mcp_message *m,
				struct mcp_request *rq, struct err *err);

/* Append a message, without an end of line. */
void mcp_write_request(struct buf *out, const struct mcp_link *link, const struct mcp_request *rq,
		       uint64_t id);
void mcp_write_initialized(struct buf *out);
void mcp_write_cancelled(struct buf *out, uint64_t id, const char *reason);

/* Append the answer of a client without capabilities to a request of the server. */
void mcp_write_reply(struct buf *out, const struct mcp_message *request);

#endif
