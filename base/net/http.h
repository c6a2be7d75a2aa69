/*
 * HTTP: the only place that uses libcurl.
 *
 * Each request has its answer streamed to the caller as it arrives. No redirects
 * (the key would follow), no cookies, no secrets in errors.
 */
#ifndef BASE_NET_HTTP_H
#define BASE_NET_HTTP_H

#include "base/buf.h"
#include "base/cancel.h"

#include <stdint.h>

#define HTTP_HEADERS_MAX 64

struct http_request {
	const char *method; /* NULL: POST */
	struct buf url;
	struct buf body;                 /* of a POST */
	char *headers[HTTP_HEADERS_MAX]; /* "Name: value", owned */
	size_t header_count;
	struct buf proxy;   /* its address; empty: what the environment says */
	struct buf ca_file; /* absolute path of certificates to trust; empty: the usual ones */
};

/* Whether a text can be the name of a header. */
bool http_is_token(struct span text);

void http_request_release(struct http_request *rq);

/* Append the path of the URL, without query; "/" for a text that is not a URL. */
void http_request_path(const struct http_request *rq, struct buf *out);

/* Add a header. -ENOMEM; -E2BIG; -EINVAL: a control character in it. */
MUST_CHECK int http_request_header(struct http_request *rq, const char *fmt, ...) PRINTF(2, 3);

/* Add a header in place of all headers of that name; the name is a token. */
MUST_CHECK int http_request_replace(struct http_request *rq, struct span name, struct span value);

struct http_limits {
	unsigned connect_ms;    /* until the connection stands */
	unsigned first_byte_ms; /* from then until the first byte of the body */
	unsigned idle_ms;       /* between two pieces of the answer */
	const uint64_t *until;  /* monotonic ns, for the whole; on_body may move it. NULL: none */
};

/*
 * Receives a piece of a 2xx body. An empty piece means: all that has arrived was handed on, so this
 * call may take a moment. Not 0: stop, http_send() returns it. May send requests itself.
 */
typedef int http_body_fn(void *arg, struct span piece);

struct http_answer {
	http_body_fn *on_body; /* set by the caller, and so is arg */
	void *arg;

	int status;           /* 0: none came */
	bool got_body;        /* on_body got a byte */
	char retry_after[64]; /* header values, "" when absent */
	char retry_after_ms[32];
	char should_retry[8];
	char content_type[128];
	char session[256];     /* Mcp-Session-Id */
	struct buf error_body; /* of an answer that is not 2xx; at most HTTP_ERROR_BODY_MAX */
};

#define HTTP_ERROR_BODY_MAX 65536

void http_answer_release(struct http_answer *answer);

/*
 * Send and receive. The body of a 2xx answer goes to answer->on_body piece by piece.
 *
 * Returns 0 when the answer is complete, whatever its status; -ECANCELED;
 * -ETIMEDOUT; -ECONNREFUSED, -EHOSTUNREACH, -ECONNRESET, -EIO, -EINVAL (no URL)
 * with a sentence in err; what on_body returned. Any thread; blocks. Cancelling takes effect at
 * once.
 */
MUST_CHECK int http_send(const struct http_request *rq, const struct http_limits *limits,
			 struct cancel *cancel, struct http_answer *answer, struct err *err);

/* Once per process, before threads. */
MUST_CHECK int http_init(struct err *err);
void http_exit(void);

#endif
