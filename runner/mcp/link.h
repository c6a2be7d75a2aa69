/*
 * Links: one connection to an MCP server, over one of the transports.
 *
 * A transport carries requests and returns their answers. agree.c finds out
 * which revision the server speaks; server.c replaces links that are lost. Many
 * threads may use a link at once.
 */
#ifndef RUNNER_MCP_LINK_H
#define RUNNER_MCP_LINK_H

#include "runner/mcp/params.h"

#include <stdatomic.h>

#define MCP_MODERN_VERSION "2026-07-28"
#define MCP_LISTEN_REQUEST                                                                         \
	{                                                                                          \
		.method = "subscriptions/listen",                                                  \
		.members = SPAN("\"notifications\":{\"toolsListChanged\":true}")                   \
	}

enum mcp_era {
	MCP_LEGACY, /* `initialize` agrees on a version and opens a session */
	MCP_MODERN, /* each request stands alone */
};

/* An error that the server answered with. */
struct mcp_refusal {
	long code;
	struct buf data; /* JSON text, or empty */
	struct buf message;
};

struct mcp_request {
	/* set by the caller, borrowed */
	const char *method;
	struct span members;  /* JSON text of the members of params, without its braces */
	const char *name;     /* of the tool that is called, or NULL */
	const json_t *schema; /* of its arguments, which may have x-mcp-header; or NULL */
	struct span args;     /* of the call, canonical */
	unsigned timeout_ms;  /* starts anew with each progress, up to MCP_CALL_MAX_MS in all */
	uint64_t deadline;    /* monotonic ns: the end in any case; 0: none */
	bool must_end;        /* the server must not be told that the request is cancelled */

	/* the result */
	struct buf result;          /* the result object as canonical text */
	struct mcp_refusal refusal; /* when the request returned -EREMOTEIO */
	int status;                 /* of HTTP; 0: no HTTP */
};

void mcp_request_release(struct mcp_request *rq);

struct mcp_link {
	const struct mcp_transport *transport;
	const struct mcp_params *params;
	char version[16]; /* fixed when mcp_agree() is done */
	atomic_int era;   /* enum mcp_era; a reader thread looks at it during mcp_agree() */
	atomic_ullong ids;
	atomic_bool tools_changed; /* the server reported a change since the last list */
	bool tells_changes;        /* the server reports changes; fixed as the version is */
	uint64_t agree_by;         /* monotonic ns: the deadline of mcp_agree() */

	/* for server.c, under its lock */
	struct mcp_link *next;
	unsigned users;
	uint64_t number; /* counts the connections of the server */
};

struct mcp_transport {
	/* Start the program, or prepare for the service. Sends nothing. 0; -errno with err. */
	int (*open)(const struct mcp_params *params, const struct mcp_home *home,
		    struct mcp_link **out, struct err *err);

	/*
	 * Ask and wait. 0: rq->result; -EREMOTEIO: rq->refusal, err is unset;
	 * -ESTALE: the link is over, and the server did not see the request;
	 * -ECANCELED, -ETIMEDOUT, -EFBIG, -EPROTO, another -errno.
	 */
	int (*ask)(struct mcp_link *link, struct mcp_request *rq, struct cancel *cancel,
		   struct err *err);

	/* Send a message that needs no answer. */
	int (*send)(struct mcp_link *link, struct span message, struct cancel *cancel,
		    struct err *err);

	/*
	 * Have changes of the list reported from now on; called before a list is
	 * read. Does not block; one caller at a time. Unset: nothing to do.
	 */
	void (*listen)(struct mcp_link *link);

	/* Whether the link is lost: nothing can be asked any more. */
	bool (*is_over)(struct mcp_link *link);

	/* Whether free() would return at once. */
	bool (*has_ended)(struct mcp_link *link);

	/* Start to end the link, and return at once; free() waits for the end. */
	void (*stop)(struct mcp_link *link);
	void (*free)(struct mcp_link *link);

	/* Why a tool with these parameters cannot be called; NULL: no reason. May be unset. */
	const char *(*check)(const struct mcp_link *link, const json_t *parameters);

	bool silence_is_legacy; /* no answer to server/discover means the legacy era */
	bool has_pushes;        /* notifications come at any time, not only with answers */
};

extern const struct mcp_transport mcp_stdio;
extern const struct mcp_transport mcp_http;

/*
 * In agree.c: find out the era of a server and agree on a version, until link->agree_by.
 * 0; -errno as mcp_call(): the link is of no use.
 */
MUST_CHECK int mcp_agree(struct mcp_link *link, struct cancel *cancel, struct err *err);

/* In agree.c: agree with a server that is known to be of the legacy era. */
MUST_CHECK int mcp_agree_legacy(struct mcp_link *link, struct cancel *cancel, struct err *err);

/* For transports: set up a new link. */
void mcp_link_init(struct mcp_link *link, const struct mcp_transport *transport,
		   const struct mcp_params *params);

/* The time at which a request that starts now ends even with progress. Monotonic ns. */
uint64_t mcp_request_last(const struct mcp_request *rq, uint64_t now);

/* Set "refused METHOD: message (code)" and return -EREMOTEIO. */
int mcp_refused(const struct mcp_link *link, const struct mcp_request *rq, struct err *err);

/*
 * How long to wait for anything but a call, in milliseconds: for a server to start
 * and agree, and for one page of its tools.
 */
unsigned mcp_patience(const struct mcp_params *params);

/* Milliseconds until link->agree_by; at least 1. */
unsigned mcp_time_left(const struct mcp_link *link);

#endif
