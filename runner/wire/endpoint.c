/*
 * Endpoints: see endpoint.h.
 */
#include "runner/wire/endpoint.h"

#include "runner/wire/key.h"

#include <errno.h>
#include <strings.h>

struct span model_endpoint_host(struct span url)
{
	const char *from = memmem(url.data, url.len, "://", 3);
	struct span host = span_sub(url, from ? (size_t)(from + 3 - url.data) : 0, url.len);
	const char *end = memchr(host.data, '/', host.len);
	const char *at;

	if (end)
		host.len = (size_t)(end - host.data);
	at = memrchr(host.data, '@', host.len);
	if (at)
		host = span_sub(host, (size_t)(at + 1 - host.data), host.len);
	end = memchr(host.data, ':', host.len);
	return end ? span_sub(host, 0, (size_t)(end - host.data)) : host;
}

static bool same_host(struct span a, struct span b)
{
	struct span x = model_endpoint_host(a);
	struct span y = model_endpoint_host(b);

	return x.len == y.len && strncasecmp(x.data, y.data, x.len) == 0;
}

int model_endpoint_find(const struct settings *settings, const char *setting, const char *own,
			struct model_endpoint *out, struct err *err)
{
	const char *url = settings_get(settings, setting);

	out->base = span_of(url ? url : own);
	while (out->base.len && out->base.data[out->base.len - 1] == '/')
		out->base.len--;
	if (strncasecmp(out->base.data, "http://", 7) != 0 &&
	    strncasecmp(out->base.data, "https://", 8) != 0)
		return err_set(err, -EINVAL, "%s does not begin with http:// or https://", setting);
	if (memchr(out->base.data, '?', out->base.len) ||
	    memchr(out->base.data, '#', out->base.len))
		return err_set(err, -EINVAL, "%s ends before any '?' or '#'", setting);
	out->official = same_host(out->base, span_of(own));
	return 0;
}

int model_header_add(const struct settings *settings, const struct model_header *header,
		     struct http_request *out, struct err *err)
{
	const char *value = settings_get(settings, header->setting);
	int r;

	if (!value)
		value = header->fallback;
	if (!value)
		return 0;
	r = http_request_header(out, "%s: %s%s", header->name, header->prefix, value);
	return r == -EINVAL ? err_set(err, r, "%s holds a control character", header->setting) : r;
}

int model_endpoint_key(const struct model_provider *provider, const struct model_endpoint *at,
		       const struct settings *settings, struct err *err)
{
	if (!at->official || model_key(provider, settings))
		return 0;
	return model_key_missing(provider, err);
}
