/*
 * Endpoints: the address of a service, and the headers of a request to it, from the settings.
 */
#ifndef RUNNER_WIRE_ENDPOINT_H
#define RUNNER_WIRE_ENDPOINT_H

#include "base/net/http.h"
#include "runner/wire/provider.h"

#define MODEL_HOST_MAX 256 /* bytes of a host, with the NUL */

struct model_endpoint {
	struct span base; /* without a slash at the end; borrowed from the settings */
	char host[MODEL_HOST_MAX];
	bool official; /* the host is the provider's own */
};

/*
 * Find the address in a setting, or else the provider's own. -EINVAL: not an HTTP address, or it
 * holds '?' or '#'; -ENOMEM without a sentence.
 */
MUST_CHECK int model_endpoint_find(const struct settings *settings, const char *setting,
				   const char *own, struct model_endpoint *out, struct err *err);

/* Add the headers that say which form the request and the answer have. -ENOMEM; -E2BIG. */
MUST_CHECK int model_headers_begin(const struct model_provider *provider, struct http_request *out);

/* A header that is sent when its setting has a value. */
struct model_header {
	const char *setting;
	const char *name;
	const char *prefix;   /* before the value */
	const char *fallback; /* the value if the setting has none; NULL: no header is sent */
};

/* Add a header. -EINVAL: its value holds a control character; -ENOMEM without a sentence. */
MUST_CHECK int model_header_add(const struct settings *settings, const struct model_header *header,
				struct http_request *out, struct err *err);

/* Check that there is a key if the host is the provider's own. -EACCES names the setting. */
MUST_CHECK int model_endpoint_key(const struct model_provider *provider,
				  const struct model_endpoint *at, const struct settings *settings,
				  struct err *err);

#endif
