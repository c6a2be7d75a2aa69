/*
 * HTTP requests: see http.h.
 */
#include "base/net/http.h"

#include "base/net/secrets.h"
#include "base/net/url.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

bool http_is_token(struct span text)
{
	size_t i;

	for (i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.data[i];

		if (c <= 0x20 || c >= 0x7f || strchr("\"(),/:;<=>?@[\\]{}", c))
			return false;
	}
	return text.len > 0;
}

void http_request_release(struct http_request *rq)
{
	size_t i;

	for (i = 0; i < rq->header_count; i++)
		secret_free(rq->headers[i]);
	buf_release(&rq->url);
	buf_release(&rq->body);
	secret_wipe(&rq->proxy);
	buf_release(&rq->ca_file);
	*rq = (struct http_request){ 0 };
}

void http_request_path(const struct http_request *rq, struct buf *out)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	CLEANUP(url_release) struct url url = { 0 };
	int r = -ENOMEM;

	buf_span_add(&text, buf_span(&rq->url));
	if (buf_cstr(&text))
		r = url_parse(text.data, &url);
	out->failed |= r == -ENOMEM;
	buf_text(out, r < 0 ? "/" : url.path);
}

static bool has_control(const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return true;
	}
	return false;
}

int http_request_header(struct http_request *rq, const char *fmt, ...)
{
	va_list args;
	char *line;
	int n;

	if (rq->header_count == HTTP_HEADERS_MAX)
		return -E2BIG;
	va_start(args, fmt);
	n = vasprintf(&line, fmt, args);
	va_end(args);
	if (n < 0)
		return -ENOMEM;
	if (has_control(line)) {
		secret_free(line);
		return -EINVAL;
	}
	rq->headers[rq->header_count++] = line;
	return 0;
}

int http_request_replace(struct http_request *rq, struct span name, struct span value)
{
	size_t kept = 0;
	size_t i;

	for (i = 0; i < rq->header_count; i++) {
		char *line = rq->headers[i];

		if (strncasecmp(line, name.data, name.len) == 0 && line[name.len] == ':')
			secret_free(line);
		else
			rq->headers[kept++] = line;
	}
	rq->header_count = kept;
	return http_request_header(rq, "%.*s: %.*s", (int)name.len, name.data, (int)value.len,
				   value.data);
}
