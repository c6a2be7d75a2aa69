/*
 * Settings that every provider has: extra headers, a proxy, certificates.
 */
#ifndef RUNNER_MODEL_SETTINGS_H
#define RUNNER_MODEL_SETTINGS_H

#include "base/net/http.h"
#include "runner/wire/provider.h"

/* Add headers, proxy and certificates from the settings to a request. -EINVAL; -ENOMEM. */
MUST_CHECK int model_settings_apply(const struct model_provider *provider,
				    const struct settings *settings, struct http_request *rq,
				    struct err *err);

/* Call fn with a sentence for each setting in an agent's .env that is ignored. */
MUST_CHECK int model_settings_review(const struct settings *settings, model_review_fn *fn,
				     void *arg);

#endif
