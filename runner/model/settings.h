/*
 * Settings of providers: which there are, how the settings file calls them,
 * where the key comes from, and what has to stay hidden.
 *
 * Beside those of its table each provider has PREFIX_CUSTOM_HEADERS (lines
 * "Name: value"), PREFIX_PROXY and PREFIX_CA_FILE, where PREFIX is its name in
 * upper case; and for each setting that is a key NAME_COMMAND, a program that
 * prints it. A command from an agent's folder does not count.
 *
 * In the settings file a setting is called what is behind PREFIX_ in lower
 * case, or else its whole name in lower case. The first key also is `api_key`,
 * the three above are `headers` (a mapping), `proxy` and `ca_file`.
 */
#ifndef RUNNER_MODEL_SETTINGS_H
#define RUNNER_MODEL_SETTINGS_H

#include "base/net/http.h"
#include "runner/model/ask.h"

/* How a model is asked. */
struct model_ask_options {
	unsigned retries;
	struct http_limits limits;
};

/* Read ADKFS_MODEL_*. -EINVAL names the one that is no number in its range. */
MUST_CHECK int model_ask_options_read(const struct settings *settings,
				      struct model_ask_options *out, struct err *err);

/* A member of a provider's section in the settings file. */
struct model_member {
	enum model_member_kind { MEMBER_TEXT, MEMBER_HEADERS, MEMBER_COMMAND } kind;
	struct buf setting; /* the name of its setting; to be released */
};

/* The provider of a section; NULL: there is none, or it has no settings. */
const struct model_provider *model_provider_named(const char *name);

/* Find a member. -ENOENT: there is none, and *known lists those there are; -ENOMEM. */
MUST_CHECK int model_member_find(const struct model_provider *provider, const char *name,
				 struct model_member *out, struct buf *known);

/* Append a member's value as the text of its setting. -EINVAL: *why says what is wrong; -ENOMEM. */
MUST_CHECK int model_member_text(const struct model_member *member, const json_t *value,
				 struct buf *text, const char **why);

/*
 * The command that gives the key, and the name of the setting that it stands
 * for; NULL: no command does. Borrowed.
 */
const char *model_key_command(const struct model_provider *provider,
			      const struct settings *settings, const char **name);

/* A setting that is needed is missing: say where to put it. -EACCES. */
int model_setting_missing(const char *name, struct err *err);

/* The same for the key of a provider. */
int model_key_missing(const struct model_provider *provider, struct err *err);

/* Add extra headers, the proxy and the file of certificates to a request. -EINVAL; -ENOMEM. */
MUST_CHECK int model_settings_apply(const struct model_provider *provider,
				    const struct settings *settings, struct http_request *rq,
				    struct err *err);

/* Call fn with a sentence for each setting of an agent's folder that does not count. */
MUST_CHECK int model_settings_review(const struct settings *settings, model_review_fn *fn,
				     void *arg);

#endif
