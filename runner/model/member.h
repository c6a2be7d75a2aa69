/*
 * Members of a provider's section in the settings file.
 *
 * The member of a setting is its name in lower case, without its PREFIX_
 * (wire/setting.h). The first key has the member `api_key` too. PREFIX_CUSTOM_HEADERS
 * is `headers` (a mapping), PREFIX_PROXY is `proxy` and PREFIX_CA_FILE is `ca_file`.
 * The member for the command of a key ends with `_command`.
 */
#ifndef RUNNER_MODEL_MEMBER_H
#define RUNNER_MODEL_MEMBER_H

#include "runner/wire/provider.h"

struct model_member {
	enum model_member_kind { MEMBER_TEXT, MEMBER_HEADERS, MEMBER_COMMAND } kind;
	struct buf setting; /* the name of its setting; the caller releases it */
};

/* The provider of a section; NULL: no provider has that section. */
const struct model_provider *model_provider_named(const char *name);

/* Find a member. -ENOENT: it is unknown, and *known lists the known members; -ENOMEM. */
MUST_CHECK int model_member_find(const struct model_provider *provider, const char *name,
				 struct model_member *out, struct buf *known);

/* Append a member's value as the text of its setting. -EINVAL: *why says what is wrong; -ENOMEM. */
MUST_CHECK int model_member_text(const struct model_member *member, const json_t *value,
				 struct buf *text, const char **why);

#endif
