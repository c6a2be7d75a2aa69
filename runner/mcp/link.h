/*
 * Links: one connection to an MCP server, over one of the transports.
 *
 * A transport carries requests and gives back their answers; agree.c
 * finds out which revision the server speaks, server.c makes links anew
 * when they are lost. Many threads may use a link at once.
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
	MCP_LEGACY, /* initialize, then what was agreed holds */
	MCP_MODERN, /* each request has all that it needs */
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
	const char *name;     /* of a tool that is called, or NULL */
	const json_t *schema; /* of its arguments, whose x-mcp-header count; or NULL */
	struct span args;     /* of the call, canonical */
	unsigned timeout_ms;  /* and again after each progress, up to MCP_CALL_MAX_MS in all */
	uint64_t deadline;    /* monotonic ns: no longer than that in any case; 0: none */
	bool must_end;        /* the server is never told that nobody waits any more */

	/* the result */
	struct buf result;          /* canonical text of the result object */
	struct mcp_refusal refusal; /* when the request returned -EREMOTEIO */
	int status;                 /* of HTTP */
};

void mcp_request_release(struct mcp_request *rq);

struct mcp_link {
	const struct mcp_transport *transport;
	const struct mcp_params *params;
	char version[16]; /* fixed before others than mcp_agree() see the link */
	atomic_int era;   /* enum mcp_era; a reader thread looks at it while it is found out */
	atomic_ullong ids;
	atomic_bool tools_changed; /* the server said so since the last list */
	bool tells_changes;        /* it said that it would; fixed as the version is */
	uint64_t agree_by;         /* monotonic ns: when mcp_agree() has to be done */

	/* for server.c, under its lock */
	struct mcp_link *next;
	unsigned users;
	uint64_t number; /* of the connections of its server */
};

struct mcp_transport {
	/* Programs, services. 0; -errno with err. Does not say a word yet. */
	int (*open)(const struct mcp_params *params, const struct mcp_home *home,
		    struct mcp_link **out, struct err *err);

	/*
	 * Ask and wait. 0: rq->result; -EREMOTEIO: rq->refusal, err is unset;
	 * -ESTALE: the link is over, and the server did nothing of it;
	 * -ECANCELED, -ETIMEDOUT, -EFBIG, -EPROTO, another -errno.
	 */
	int (*ask)(struct mcp_link *link, struct mcp_request *rq, struct cancel *cancel,
		   struct err *err);

	/* Send a message that no answer is awaited to. */
	int (*send)(struct mcp_link *link, struct span message, struct cancel *cancel,
		    struct err *err);

	/*
	 * Before a list is read: hear of changes from now on. Blocks nobody; one
	 * caller at a time. Unset: there is nothing to do for that.
	 */
	void (*listen)(struct mcp_link *link);

	/* Whether it is lost: nothing can be asked any more. */
	bool (*is_over)(struct mcp_link *link);

	/* Whether free() would not have to wait. */
	bool (*has_ended)(struct mcp_link *link);

	/* Start to end it, at once; free() then waits for the end. */
	void (*stop)(struct mcp_link *link);
	void (*free)(struct mcp_link *link);

	/* Why a tool with these parameters cannot be called; NULL: it can. May be unset. */
	const char *(*check)(const struct mcp_link *link, const json_t *parameters);

	bool silence_is_legacy; /* no answer to server/discover means the legacy era */
	bool has_pushes;        /* notifications come at any time, not only with answers */
};

extern const struct mcp_transport mcp_stdio;
extern const struct mcp_transport mcp_http;

/* For transports: the parts of a new link that they share. */
void mcp_link_init(struct mcp_link *link, const struct mcp_transport *transport,
		   const struct mcp_params *params);

/* When a request of now ends at the latest, whatever progress it makes. Monotonic ns. */
uint64_t mcp_request_last(const struct mcp_request *rq, uint64_t now);

/* Set "refused METHOD: message (code)" and return -EREMOTEIO. */
int mcp_refused(const struct mcp_link *link, const struct mcp_request *rq, struct err *err);

/*
 * How long to wait for what is no call, in milliseconds: for a server to start
 * and agree, all in all, and for a page of its tools.
 */
unsigned mcp_patience(const struct mcp_params *params);

/* What is left until link->agree_by, in milliseconds; at least 1. */
unsigned mcp_time_left(const struct mcp_link *link);

#endif
