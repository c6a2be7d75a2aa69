/*
 * OLLAMA_HOST: see ollama.h. The server reads the same setting to know where to listen,
 * so that it may hold an address which means "everywhere".
 */
#include "runner/provider/ollama/ollama.h"

#include "base/net/url.h"

#include <arpa/inet.h>
#include <errno.h>
#include <strings.h>

#define CLOUD      "ollama.com"
#define LOCAL_PORT "11434"

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

/* Append HOST, HOST:PORT, :PORT, V6, [V6] or [V6]:PORT in the form of a URL. */
static void put_authority(struct span text, struct buf *url)
{
	struct span bare = trim(text, "[]");

	if (is_v6(bare)) {
		buf_printf(url, "[%.*s]", (int)bare.len, bare.data);
		return;
	}
	if (!text.len || text.data[0] == ':')
		buf_text(url, "127.0.0.1");
	buf_span_add(url, text);
}

/* Parse the address. Errors do not quote it, since it may hold a password. */
static int check(struct span authority, struct span path, struct url *url, struct err *err)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	size_t i;
	int r;

	buf_text(&text, "http://");
	put_authority(authority, &text);
	r = buf_cstr(&text) ? url_parse(text.data, url) : -ENOMEM;
	if (r == -ENOMEM)
		return err_nomem(err);
	if (r == -ERANGE || text.data[text.len - 1] == ':')
		return err_set(err, -EINVAL, "%s: the port is not a number from 0 to 65535",
			       OLLAMA_HOST);
	if (r < 0 || strpbrk(text.data, "@?#"))
		return err_set(err, -EINVAL, "%s is neither the name nor the address of a host",
			       OLLAMA_HOST);
	for (i = 0; i < path.len; i++) {
		if ((unsigned char)path.data[i] <= ' ' || strchr("?#\x7f", path.data[i]))
			return err_set(err, -EINVAL,
				       "%s: the path holds a space, a '?', a '#' or a control "
				       "character",
				       OLLAMA_HOST);
	}
	return 0;
}

/* If the server listens "everywhere", we ask this machine. */
static const char *host_to_ask(const char *host)
{
	if (!strcmp(host, "0.0.0.0"))
		return "127.0.0.1";
	return strcmp(host, "[::]") ? host : "[::1]";
}

int ollama_address(const char *host, struct buf *out, bool *cloud, struct err *err)
{
	CLEANUP(url_release) struct url url = { 0 };
	struct span text = trim(span_of(host ? host : ""), " \t\r\n\"'");
	struct span path = { 0 };
	bool is_cloud = text.len == strlen(CLOUD) && !strncasecmp(text.data, CLOUD, text.len);
	bool is_https = is_cloud || url_has_scheme(text.data, "https");
	const char *port = is_https || url_has_scheme(text.data, "http") ? NULL : LOCAL_PORT;
	const char *slash;
	int r;

	if (!port && !is_cloud)
		text = span_sub(text, strlen(is_https ? "https://" : "http://"), text.len);
	slash = memchr(text.data, '/', text.len);
	if (slash) {
		path = trim(span_sub(text, (size_t)(slash - text.data), text.len), "/");
		text.len = (size_t)(slash - text.data);
	}
	r = check(text, path, &url, err);
	if (r < 0)
		return r;
	*cloud = strcasecmp(url.host, CLOUD) == 0;
	port = url.port ? url.port : port;
	buf_printf(out, "%s://%s%s%s", is_https ? "https" : "http", host_to_ask(url.host),
		   port ? ":" : "", port ? port : "");
	if (path.len) {
		buf_char(out, '/');
		buf_span_add(out, path);
	}
	return buf_check(out, err);
}
