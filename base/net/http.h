/*
 * HTTP requests, sent by libcurl.
 *
 * The caller gets the answer in pieces, as they arrive. Redirects are not followed, since they
 * would take the key to another host. Cookies are not kept. Texts of errors hold no secrets.
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
	struct buf body;                 /* sent with a POST */
	char *headers[HTTP_HEADERS_MAX]; /* "Name: value", owned */
	size_t header_count;
	struct buf proxy;   /* the address of a proxy; empty: the environment decides */
	struct buf ca_file; /* absolute path of certificates to trust; empty: the system's */
};

/* Whether a text can be the name of a header. */
bool http_is_token(struct span text);

/* Free what the request holds, and overwrite what may be secret. */
void http_request_release(struct http_request *rq);

/* Append the path of the URL, without query; "/" for a text that is not a URL. */
void http_request_path(const struct http_request *rq, struct buf *out);

/* Add a header. -ENOMEM; -E2BIG: too many headers; -EINVAL: it holds a control character. */
MUST_CHECK int http_request_header(struct http_request *rq, const char *fmt, ...) PRINTF(2, 3);

/* Replace all headers of a name, which is a token, by one. Returns as http_request_header(). */
MUST_CHECK int http_request_replace(struct http_request *rq, struct span name, struct span value);

struct http_limits {
	unsigned connect_ms;    /* until the connection is made */
	unsigned first_byte_ms; /* from then to the first byte of the body */
	unsigned idle_ms;       /* between two pieces of the answer */
	const uint64_t *until;  /* monotonic ns, when the request must end; on_body may change it;
				 * NULL: never */
};

/*
 * Receives a piece of a 2xx body. An empty piece means that nothing more has arrived yet: the
 * function has time for other work. A value other than 0 stops the transfer, and http_send()
 * returns it. The function may send other requests.
 */
typedef int http_body_fn(void *arg, struct span piece);

struct http_answer {
	http_body_fn *on_body; /* the caller sets this and arg; all else starts as zero */
	void *arg;

	int status;           /* 0: no answer came */
	bool got_body;        /* on_body got a byte */
	char retry_after[64]; /* header values, "" when absent */
	char retry_after_ms[32];
	char should_retry[8];
	char content_type[128];
	char session[256];     /* Mcp-Session-Id */
	struct buf error_body; /* the body of an answer that is not 2xx, cut at the maximum */
};

#define HTTP_ERROR_BODY_MAX 65536

void http_answer_release(struct http_answer *answer);

/*
 * Send a request and receive the answer. The body of a 2xx answer goes to answer->on_body.
 *
 * Returns 0 when the answer is complete, whatever its status; -ECANCELED; -ETIMEDOUT;
 * -ECONNREFUSED, -EHOSTUNREACH, -ECONNRESET, -EACCES (the certificate), -EIO, -EINVAL (not a
 * URL); -ENOMEM; what on_body returned. Any thread; blocks. Cancelling takes effect at once.
 */
MUST_CHECK int http_send(const struct http_request *rq, const struct http_limits *limits,
			 struct cancel *cancel, struct http_answer *answer, struct err *err);

/* Start libcurl, once per process and before the first thread, and stop it at the end. */
MUST_CHECK int http_init(struct err *err);
void http_exit(void);

#endif
