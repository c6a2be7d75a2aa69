/*
 * Failures of model services: what they mean, and whether to ask again.
 */
#ifndef RUNNER_MODEL_RETRY_H
#define RUNNER_MODEL_RETRY_H

#include "base/net/http.h"
#include "runner/model/ask.h"

/* Report the answer of a service that refused the request. Returns the -errno of its status. */
int model_refused(const struct question *q, const struct http_request *sent,
		  const struct http_answer *answer, struct err *err);

/* Whether the service refused the key: by status 401, or by a word in the body. */
bool model_key_refused(const struct http_answer *answer);

/* Whether an attempt that ended with r may be made again. */
bool model_may_retry(const struct http_answer *answer, int r);

/* How long to wait after attempt number n, counted from 0, in ms. */
unsigned model_retry_wait(const struct model_provider *provider, const struct http_answer *answer,
			  unsigned n);

#endif
