/*
 * Endpoints: see endpoint.h.
 */
#include "runner/wire/endpoint.h"

#include "base/net/url.h"
#include "runner/wire/key.h"

#include <errno.h>
#include <strings.h>

/* -EINVAL: not a URL, or its host is too long for DNS. */
static int host_of(struct span text, char host[MODEL_HOST_MAX])
{
	CLEANUP(buf_release) struct buf copy = { 0 };
	CLEANUP(url_release) struct url url = { 0 };
	int r;

	buf_span_add(&copy, text);
	r = buf_cstr(&copy) ? url_parse(copy.data, &url) : -ENOMEM;
	if (r == -ENOMEM)
		return r;
	if (r < 0 || strlen(url.host) >= MODEL_HOST_MAX)
		return -EINVAL;
	(void)strcpy(host, url.host);
	return 0;
}

int model_endpoint_find(const struct settings *settings, const char *setting, const char *own,
			struct model_endpoint *out, struct err *err)
{
	const char *value = settings_get(settings, setting);
	const char *base = value ? value : own;
	char own_host[MODEL_HOST_MAX] = "";
	int r;

	if (!url_has_scheme(base, "http") && !url_has_scheme(base, "https"))
		return err_set(err, -EINVAL, "%s does not begin with http:// or https://", setting);
	if (strpbrk(base, "?#"))
		return err_set(err, -EINVAL, "%s must not contain '?' or '#'", setting);
	out->base = span_of(base);
	while (out->base.data[out->base.len - 1] == '/')
		out->base.len--;
	r = host_of(out->base, out->host);
	if (r == -EINVAL)
		return err_set(err, r, "%s is not the address of a service", setting);
	if (r == 0 && *own)
		r = host_of(span_of(own), own_host);
	out->official = strcasecmp(out->host, own_host) == 0;
	return r;
}

int model_headers_begin(const struct model_provider *provider, struct http_request *out)
{
	int r = http_request_header(out, "Content-Type: application/json");

	if (r < 0)
		return r;
	return http_request_header(out, "Accept: %s",
				   provider->framing == MODEL_SSE ? "text/event-stream"
								  : "application/x-ndjson");
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
