/*
 * How models are asked: the settings ADKFS_MODEL_*.
 */
#ifndef RUNNER_MODEL_OPTIONS_H
#define RUNNER_MODEL_OPTIONS_H

#include "base/net/http.h"
#include "runner/settings/settings.h"

#include <jansson.h>

struct model_ask_options {
	unsigned retries;
	struct http_limits limits;
};

/* Read the settings. -EINVAL names the setting that is not a number in its range. */
MUST_CHECK int model_ask_options_read(const struct settings *settings,
				      struct model_ask_options *out, struct err *err);

/* Add the options of an agent without settings to an object: `value` and `from` by name. -ENOMEM.
 */
MUST_CHECK int model_ask_options_show(json_t *into);

#endif
