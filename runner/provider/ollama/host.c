/*
 * OLLAMA_HOST: see ollama.h. Servers are told where to listen by the same
 * value, so that it may be an address which means "everywhere".
 */
#include "runner/provider/ollama/ollama.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <strings.h>

#define CLOUD      "ollama.com"
#define LOCAL_PORT "11434"

/* How an address begins, and the port that it means then. */
static const struct scheme {
	const char *prefix;
	const char *name;
	const char *port; /* NULL: that of the scheme */
} schemes[] = {
	{ "http://", "http", NULL },
	{ "https://", "https", NULL },
	{ "", "http", LOCAL_PORT },
};

struct address {
	const struct scheme *scheme;
	struct span host; /* without brackets */
	struct span port;
	bool has_port;
	struct span path; /* without a slash at either end */
};

static struct span trim(struct span text, const char *what)
{
	while (text.len && strchr(what, text.data[0]))
		text = span_sub(text, 1, text.len);
	while (text.len && strchr(what, text.data[text.len - 1]))
		text.len--;
	return text;
}

static bool is_v6(struct span host)
{
	struct in6_addr address;
	char text[INET6_ADDRSTRLEN];

	if (host.len >= sizeof text)
		return false;
	memcpy(text, host.data, host.len);
	text[host.len] = 0;
	return inet_pton(AF_INET6, text, &address) == 1;
}

/* HOST, HOST:PORT, :PORT, V6, [V6] or [V6]:PORT. */
static void split_port(struct span text, struct address *a)
{
	const char *colon = memrchr(text.data, ':', text.len);
	struct span bare = trim(text, "[]");

	a->host = is_v6(bare) ? bare : text;
	if (is_v6(bare) || !colon)
		return;
	a->host = trim(span_sub(text, 0, (size_t)(colon - text.data)), "[]");
	a->port = span_sub(text, (size_t)(colon - text.data) + 1, text.len);
	a->has_port = true;
}

static bool is_port(struct span port)
{
	unsigned number = 0;
	size_t i;

	for (i = 0; i < port.len; i++) {
		if (!isdigit((unsigned char)port.data[i]) || number > 65535)
			return false;
		number = number * 10 + (unsigned)(port.data[i] - '0');
	}
	return port.len && number <= 65535;
}

/* A name or an address of the fourth version. */
static bool is_name(struct span host)
{
	size_t i;

	for (i = 0; i < host.len; i++) {
		unsigned char c = (unsigned char)host.data[i];

		if (c < 0x80 && !isalnum(c) && !strchr("-._", c))
			return false;
	}
	return true;
}

/* The value is not quoted: people write passwords into it. */
static int check(const struct address *a, struct err *err)
{
	size_t i;

	if (!is_name(a->host) && !is_v6(a->host))
		return err_set(err, -EINVAL, "%s is neither the name nor the address of a host",
			       OLLAMA_HOST);
	if (a->has_port && !is_port(a->port))
		return err_set(err, -EINVAL, "%s: the port is not a number from 0 to 65535",
			       OLLAMA_HOST);
	for (i = 0; i < a->path.len; i++) {
		if ((unsigned char)a->path.data[i] <= ' ' || strchr("?#\x7f", a->path.data[i]))
			return err_set(err, -EINVAL,
				       "%s: the path holds a space, a '?', a '#' or a control "
				       "character",
				       OLLAMA_HOST);
	}
	return 0;
}

/* "everywhere", for a server, is this machine for those who ask it. */
static void put_host(struct span host, struct buf *url)
{
	if (!host.len || span_is(host, "0.0.0.0"))
		buf_text(url, "127.0.0.1");
	else if (span_is(host, "::"))
		buf_text(url, "[::1]");
	else
		buf_printf(url, is_v6(host) ? "[%.*s]" : "%.*s", (int)host.len, host.data);
}

static void put_address(const struct address *a, struct buf *url)
{
	buf_printf(url, "%s://", a->scheme->name);
	put_host(a->host, url);
	if (a->has_port)
		buf_printf(url, ":%.*s", (int)a->port.len, a->port.data);
	else if (a->scheme->port)
		buf_printf(url, ":%s", a->scheme->port);
	if (a->path.len) {
		buf_char(url, '/');
		buf_span_add(url, a->path);
	}
}

static bool is_cloud(struct span host)
{
	return host.len == sizeof CLOUD - 1 && strncasecmp(host.data, CLOUD, host.len) == 0;
}

int ollama_address(const char *host, struct buf *url, bool *cloud, struct err *err)
{
	struct address a = { .scheme = schemes };
	struct span text = trim(span_of(host ? host : ""), " \t\r\n\"'");
	const char *slash;
	int r;

	if (is_cloud(text))
		text = span_of("https://" CLOUD);
	while (strncasecmp(text.data, a.scheme->prefix, strlen(a.scheme->prefix)) != 0)
		a.scheme++;
	text = span_sub(text, strlen(a.scheme->prefix), text.len);
	slash = memchr(text.data, '/', text.len);
	if (slash)
		a.path = trim(span_sub(text, (size_t)(slash - text.data), text.len), "/");
	split_port(slash ? span_sub(text, 0, (size_t)(slash - text.data)) : text, &a);
	r = check(&a, err);
	if (r < 0)
		return r;
	*cloud = is_cloud(a.host);
	put_address(&a, url);
	return buf_check(url, err);
}
