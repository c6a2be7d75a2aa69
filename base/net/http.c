/*
 * HTTP: see http.h.
 *
 * Each thread has one easy and one multi handle, made at its first request and
 * freed when it ends: connections stay open between the calls of a turn, and
 * no lock is needed. The multi interface is what lets us wait for the socket
 * and for the cancel descriptor at once.
 */
#include "base/net/http.h"

#include "base/clock.h"
#include "base/net/url.h"
#include "base/net/wait.h"

#include <curl/curl.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#define CONNECT_POLL_MS 1000

/* The handles of one thread; a request inside the answer of another has its own. */
struct link {
	CURL *easy;
	CURLM *multi;
	struct http_wait wait;
	bool is_busy;
	bool is_kept; /* lives until the thread ends */
};

/* A request on its way. */
struct transfer {
	CURL *easy;
	const struct http_limits *limits;
	struct http_answer *answer;
	struct curl_slist *headers;
	uint64_t deadline; /* monotonic ns; 0: libcurl watches the connecting */
	const char *late;  /* what the host did not do before the deadline, for the error */
	int stopped;       /* what on_body returned */
	bool handed;       /* on_body got a piece, and no empty piece since */
	bool enough;       /* an error body has reached its maximum */
	bool has_proxy;    /* the request names a proxy */
	char where[128];   /* host and port, for errors */
	char reason[CURL_ERROR_SIZE];
};

static pthread_key_t link_key;

static void link_free(void *arg)
{
	struct link *link = arg;

	if (!link)
		return;
	if (link->easy)
		curl_easy_cleanup(link->easy);
	if (link->multi) {
		http_wait_end(link->multi);
		(void)curl_multi_cleanup(link->multi);
	}
	free(link);
}

static struct link *link_new(void)
{
	struct link *link = calloc(1, sizeof *link);

	if (!link)
		return NULL;
	link->easy = curl_easy_init();
	link->multi = curl_multi_init();
	if (link->easy && link->multi) {
		http_wait_init(&link->wait, link->multi);
		return link;
	}
	link_free(link);
	return NULL;
}

static struct link *link_get(void)
{
	struct link *link = pthread_getspecific(link_key);
	bool is_first = !link;

	if (!link || link->is_busy)
		link = link_new();
	if (!link)
		return NULL;
	if (is_first && pthread_setspecific(link_key, link) != 0) {
		link_free(link);
		return NULL;
	}
	link->is_kept |= is_first;
	link->is_busy = true;
	return link;
}

/* Return the handles, without anything of this request. */
static void link_put(struct link *link)
{
	link->is_busy = false;
	if (link->is_kept)
		curl_easy_reset(link->easy);
	else
		link_free(link);
}

void http_answer_release(struct http_answer *answer)
{
	buf_release(&answer->error_body);
	*answer = (struct http_answer){ 0 };
}

/* A socket must not leak into the tools that other threads start. */
static curl_socket_t open_socket(void *arg UNUSED, curlsocktype purpose UNUSED,
				 struct curl_sockaddr *addr)
{
	return socket(addr->family, addr->socktype | SOCK_CLOEXEC, addr->protocol);
}

static void set_deadline(struct transfer *t, unsigned ms, const char *what)
{
	t->deadline = clock_monotonic() + (uint64_t)ms * NSEC_PER_MSEC;
	t->late = what;
}

/* The connection is made, and the request goes out now. */
static int on_ready(void *arg, char *to UNUSED, char *from UNUSED, int to_port UNUSED,
		    int from_port UNUSED)
{
	struct transfer *t = arg;

	set_deadline(t, t->limits->first_byte_ms, "did not answer in time");
	return CURL_PREREQFUNC_OK;
}

/* The headers that callers read. */
static const struct header {
	const char *name;
	size_t at;
	size_t size;
} wanted_headers[] = {
	{ "retry-after", offsetof(struct http_answer, retry_after),
	  sizeof((struct http_answer *)0)->retry_after },
	{ "retry-after-ms", offsetof(struct http_answer, retry_after_ms),
	  sizeof((struct http_answer *)0)->retry_after_ms },
	{ "x-should-retry", offsetof(struct http_answer, should_retry),
	  sizeof((struct http_answer *)0)->should_retry },
	{ "content-type", offsetof(struct http_answer, content_type),
	  sizeof((struct http_answer *)0)->content_type },
	{ "mcp-session-id", offsetof(struct http_answer, session),
	  sizeof((struct http_answer *)0)->session },
};

/* A value that is too long is left out. */
static void keep_header(struct transfer *t, const struct header *h, struct span value)
{
	char *out = (char *)t->answer + h->at;

	value = span_trim(value);
	if (value.len < h->size) {
		memcpy(out, value.data, value.len);
		out[value.len] = 0;
	}
}

static size_t on_header(char *data, size_t size, size_t count, void *arg)
{
	struct span line = { data, size * count };
	const char *colon = memchr(line.data, ':', line.len);
	size_t name = colon ? (size_t)(colon - line.data) : 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wanted_headers); i++) {
		const struct header *h = &wanted_headers[i];

		if (name == strlen(h->name) && strncasecmp(line.data, h->name, name) == 0)
			keep_header(arg, h, span_sub(line, name + 1, line.len));
	}
	return line.len;
}

static size_t on_error_body(struct transfer *t, struct span piece)
{
	struct buf *body = &t->answer->error_body;

	buf_add(body, piece.data, MIN(piece.len, HTTP_ERROR_BODY_MAX - body->len));
	t->enough = body->len == HTTP_ERROR_BODY_MAX || body->failed;
	return t->enough ? CURL_WRITEFUNC_ERROR : piece.len;
}

static size_t on_body(char *data, size_t size, size_t count, void *arg)
{
	struct transfer *t = arg;
	struct span piece = { data, size * count };
	long status = 0;

	set_deadline(t, t->limits->idle_ms, "fell silent in the middle of the answer");
	(void)curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
	if (status < 200 || status > 299)
		return on_error_body(t, piece);
	if (!piece.len)
		return 0;
	t->answer->got_body = t->handed = true;
	t->stopped = t->answer->on_body(t->answer->arg, piece);
	return t->stopped ? CURL_WRITEFUNC_ERROR : piece.len;
}

/* Keep host and port for errors; the user part of an address never appears there. */
static int find_where(struct transfer *t, const char *text, struct err *err)
{
	CLEANUP(url_release) struct url url = { 0 };
	int r = url_parse(text, &url);

	if (r == -ENOMEM)
		return err_nomem(err);
	if (r < 0)
		return err_set(err, -EINVAL, "the address is not a URL");
	(void)snprintf(t->where, sizeof t->where, "%.100s%s%.8s", url.host, url.port ? ":" : "",
		       url.port ? url.port : "");
	return 0;
}

static int set_headers(struct transfer *t, const struct http_request *rq)
{
	/* Without this line libcurl holds large bodies back for a second. */
	struct curl_slist *list = curl_slist_append(NULL, "Expect:");
	size_t i;

	for (i = 0; list && i < rq->header_count; i++) {
		t->headers = list;
		list = curl_slist_append(t->headers, rq->headers[i]);
	}
	if (!list)
		return -ENOMEM;
	t->headers = list;
	return curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, list) == CURLE_OK ? 0 : -ENOMEM;
}

#define SET(option, value)                                                                         \
	do {                                                                                       \
		if (c == CURLE_OK)                                                                 \
			c = curl_easy_setopt(easy, option, value);                                 \
	} while (0)

static CURLcode set_method(CURL *easy, const struct http_request *rq)
{
	struct span body = buf_span(&rq->body);
	CURLcode c = CURLE_OK;

	if (rq->method) {
		SET(CURLOPT_CUSTOMREQUEST, rq->method);
		return c;
	}
	SET(CURLOPT_POST, 1L);
	SET(CURLOPT_POSTFIELDS, body.data);
	SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.len);
	return c;
}

/* Both texts were ended with a NUL when they were set. */
static CURLcode set_way(CURL *easy, const struct http_request *rq)
{
	CURLcode c = CURLE_OK;

	if (rq->proxy.len)
		SET(CURLOPT_PROXY, rq->proxy.data);
	if (rq->ca_file.len)
		SET(CURLOPT_CAINFO, rq->ca_file.data);
	return c;
}

static int set_options(struct transfer *t, const char *url, const struct http_request *rq)
{
	CURL *easy = t->easy;
	CURLcode c = set_method(easy, rq);

	if (c == CURLE_OK)
		c = set_way(easy, rq);
	SET(CURLOPT_URL, url);
	SET(CURLOPT_PROTOCOLS_STR, "http,https");
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	SET(CURLOPT_USERAGENT, "adkfs");
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_TCP_KEEPALIVE, 1L); /* some streams are silent for hours */
	SET(CURLOPT_QUICK_EXIT, 1L);    /* cancel does not wait for a name server */
	SET(CURLOPT_CONNECTTIMEOUT_MS,
	    MAX((long)t->limits->connect_ms, 1L)); /* libcurl takes 0 as 300 s */
	SET(CURLOPT_OPENSOCKETFUNCTION, open_socket);
	SET(CURLOPT_PREREQFUNCTION, on_ready);
	SET(CURLOPT_PREREQDATA, t);
	SET(CURLOPT_HEADERFUNCTION, on_header);
	SET(CURLOPT_HEADERDATA, t);
	SET(CURLOPT_WRITEFUNCTION, on_body);
	SET(CURLOPT_WRITEDATA, t);
	SET(CURLOPT_ERRORBUFFER, t->reason);
	return c == CURLE_OK ? 0 : -ENOMEM;
}

#undef SET

/* The earlier one of the two deadlines; 0: there is none, and libcurl limits the connecting. */
static uint64_t deadline_of(const struct transfer *t)
{
	const uint64_t *until = t->limits->until;

	if (!until || !t->deadline)
		return until ? *until : t->deadline;
	return MIN(*until, t->deadline);
}

/* How long to wait: many threads wait at once, so that none may wake up for nothing. */
static int wait_ms(const struct transfer *t)
{
	uint64_t deadline = deadline_of(t);
	uint64_t now = clock_monotonic();

	if (!deadline)
		return CONNECT_POLL_MS;
	if (now >= deadline)
		return 0;
	return (int)MIN((deadline - now) / NSEC_PER_MSEC + 1, INT_MAX);
}

static bool is_late(const struct transfer *t)
{
	uint64_t deadline = deadline_of(t);

	return deadline && clock_monotonic() >= deadline;
}

/* Let libcurl work until it is done; *code is its verdict. */
static int drive(struct transfer *t, struct link *link, struct cancel *cancel, CURLcode *code,
		 struct err *err)
{
	const CURLMsg *message;
	int running = 1;
	int left;

	while (running && !t->stopped) {
		if (cancel_fired(cancel))
			return err_set(err, -ECANCELED, "cancelled");
		if (is_late(t))
			return err_set(err, -ETIMEDOUT, "%s %s", t->where,
				       t->late ? t->late : "cannot be reached in time");
		if (!http_wait_step(&link->wait, link->multi, cancel->fd, wait_ms(t), &running))
			return err_nomem(err);
		if (running && t->handed)
			t->stopped = t->answer->on_body(t->answer->arg, SPAN(""));
		t->handed = false;
	}
	message = curl_multi_info_read(link->multi, &left);
	*code = message ? message->data.result : CURLE_OUT_OF_MEMORY;
	return 0;
}

/* Errors of libcurl, as an errno and a sentence. */
static const struct verdict {
	CURLcode code;
	int r;
	const char *text; /* after host and port */
} verdicts[] = {
	{ CURLE_COULDNT_RESOLVE_HOST, -EHOSTUNREACH, "is not a known host" },
	{ CURLE_COULDNT_RESOLVE_PROXY, -EHOSTUNREACH, "cannot be reached: the proxy is unknown" },
	{ CURLE_COULDNT_CONNECT, -ECONNREFUSED, "cannot be reached: nothing answers there" },
	{ CURLE_PROXY, -EHOSTUNREACH, "cannot be reached: the proxy refuses" },
	{ CURLE_UNSUPPORTED_PROTOCOL, -EINVAL,
	  "cannot be reached: this kind of address or proxy is not supported" },
	{ CURLE_URL_MALFORMAT, -EINVAL,
	  "cannot be reached: its address or that of the proxy is not a URL" },
	{ CURLE_PEER_FAILED_VERIFICATION, -EACCES,
	  "has a certificate that cannot be trusted: see the setting CA_FILE" },
	{ CURLE_SSL_CACERT_BADFILE, -EINVAL,
	  "cannot be asked: the file of trusted certificates cannot be read" },
	{ CURLE_OPERATION_TIMEDOUT, -ETIMEDOUT, "cannot be reached in time" },
	{ CURLE_GOT_NOTHING, -ECONNRESET, "closed the connection without an answer" },
	{ CURLE_SEND_ERROR, -ECONNRESET, "closed the connection" },
	{ CURLE_RECV_ERROR, -ECONNRESET, "broke off the connection" },
	{ CURLE_PARTIAL_FILE, -ECONNRESET, "broke off the connection" },
	{ CURLE_HTTP2, -ECONNRESET, "broke off the connection" },
	{ CURLE_HTTP2_STREAM, -ECONNRESET, "broke off the connection" },
	{ CURLE_OUT_OF_MEMORY, -ENOMEM, "cannot be asked: out of memory" },
};

static int judge(const struct transfer *t, CURLcode code, struct err *err)
{
	long by_proxy = 0;
	size_t i;

	if (t->stopped)
		return t->stopped;
	if (code == CURLE_OK || t->enough)
		return buf_check(&t->answer->error_body, err);
	(void)curl_easy_getinfo(t->easy, CURLINFO_HTTP_CONNECTCODE, &by_proxy);
	if (code == CURLE_COULDNT_CONNECT && t->has_proxy)
		return err_set(err, -ECONNREFUSED,
			       "%s cannot be reached: its proxy does not answer", t->where);
	if (by_proxy >= 300)
		return err_set(err, -EHOSTUNREACH, "%s cannot be reached: the proxy answered %ld",
			       t->where, by_proxy);
	for (i = 0; i < ARRAY_SIZE(verdicts); i++) {
		if (verdicts[i].code == code)
			return err_set(err, verdicts[i].r, "%s %s", t->where, verdicts[i].text);
	}
	return err_set(err, -EIO, "%s cannot be used: %s", t->where,
		       *t->reason ? t->reason : curl_easy_strerror(code));
}

static int run(struct transfer *t, struct link *link, struct cancel *cancel, struct err *err)
{
	CURLcode code = CURLE_OK;
	long status = 0;
	int r;

	if (curl_multi_add_handle(link->multi, link->easy) != CURLM_OK)
		return err_nomem(err);
	r = drive(t, link, cancel, &code, err);
	(void)curl_easy_getinfo(link->easy, CURLINFO_RESPONSE_CODE, &status);
	t->answer->status = (int)status;
	(void)curl_multi_remove_handle(link->multi, link->easy);
	return r < 0 ? r : judge(t, code, err);
}

static int send_over(struct link *link, const struct http_request *rq, struct transfer *t,
		     struct cancel *cancel, struct err *err)
{
	CLEANUP(buf_release) struct buf url = { 0 };
	int r;

	buf_span_add(&url, buf_span(&rq->url));
	if (!buf_cstr(&url))
		return err_nomem(err);
	t->easy = link->easy;
	t->has_proxy = rq->proxy.len > 0;
	r = find_where(t, url.data, err);
	if (r < 0)
		return r;
	r = set_headers(t, rq);
	if (r == 0)
		r = set_options(t, url.data, rq);
	return r < 0 ? err_nomem(err) : run(t, link, cancel, err);
}

int http_send(const struct http_request *rq, const struct http_limits *limits,
	      struct cancel *cancel, struct http_answer *answer, struct err *err)
{
	struct transfer t = { .limits = limits, .answer = answer };
	struct link *link = link_get();
	int r;

	if (!link)
		return err_nomem(err);
	r = send_over(link, rq, &t, cancel, err);
	link_put(link);
	curl_slist_free_all(t.headers);
	return r;
}

int http_init(struct err *err)
{
	int r;

	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return err_set(err, -EIO, "libcurl does not start");
	r = pthread_key_create(&link_key, link_free);
	if (r == 0)
		return 0;
	curl_global_cleanup();
	return err_errno(err, -r, "cannot create a thread key for libcurl");
}

void http_exit(void)
{
	link_free(pthread_getspecific(link_key));
	(void)pthread_setspecific(link_key, NULL);
	(void)pthread_key_delete(link_key);
	curl_global_cleanup();
}
