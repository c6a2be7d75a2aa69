/*
 * Messages of MCP: JSON-RPC 2.0, written and read. Numbers stay as they are
 * written.
 */
#ifndef RUNNER_MCP_MESSAGE_H
#define RUNNER_MCP_MESSAGE_H

#include "runner/mcp/link.h"

#define MCP_CLIENT_INFO "{\"name\":\"adkfs\",\"version\":\"" ADKFS_VERSION "\"}"

enum mcp_kind {
	MCP_ASKS,   /* a request of the server: has `method` and an id */
	MCP_TELLS,  /* a notification: has `method` */
	MCP_ANSWER, /* all other JSON; a good one has `result` or `error` */
};

struct mcp_message {
	enum mcp_kind kind;
	struct span id;     /* JSON text as it came; empty: none that can be one */
	struct buf method;  /* decoded */
	struct span params; /* JSON text, empty: none */
	struct span result;
	struct span error;
};

void mcp_message_release(struct mcp_message *m);

/* Read a message; its spans lie in the text. Returns 0; -EINVAL: not JSON; -ENOMEM. */
MUST_CHECK int mcp_message_read(struct span text, struct mcp_message *m);

/*
 * A text in which what is no UTF-8 and halves of surrogates became U+FFFD, for
 * a second reading. -ENOMEM.
 */
MUST_CHECK int mcp_message_mend(struct span text, struct buf *out);

/* The number in an id, or in a progressToken. 0: it is none that we gave. */
uint64_t mcp_message_id(struct span id);

/* The id in what cannot be read as a message: near its start, or at its end. 0: none found. */
uint64_t mcp_message_guess(struct span text);

/* What a progress notification is about, 0 for other messages. */
uint64_t mcp_message_progress(const struct mcp_message *m);

/* Note in the link what a notification says. */
void mcp_message_note(struct mcp_link *link, const struct mcp_message *m);

/* Take an answer apart. 0; -EREMOTEIO; -EPROTO with err; -ENOMEM. As in request() above. */
MUST_CHECK int mcp_message_take(const struct mcp_link *link, const struct mcp_message *m,
				struct mcp_request *rq, struct err *err);

/* Append messages, without an end of line. */
void mcp_write_request(struct buf *out, const struct mcp_link *link, const struct mcp_request *rq,
		       uint64_t id);
void mcp_write_initialized(struct buf *out);
void mcp_write_cancelled(struct buf *out, uint64_t id, const char *reason);

/* What a client without capabilities answers to a request of the server. */
void mcp_write_reply(struct buf *out, const struct mcp_message *request);

#endif
