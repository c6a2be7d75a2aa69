/*
 * Members of a provider's section in the settings file.
 *
 * A setting is called what follows its PREFIX_ (wire/setting.h) in lower case, or
 * else its whole name in lower case. The first key can also be called `api_key`.
 * PREFIX_CUSTOM_HEADERS is `headers` (a mapping), PREFIX_PROXY and PREFIX_CA_FILE
 * are `proxy` and `ca_file`. The command for a key has `_command` after the key's
 * member.
 */
#ifndef RUNNER_MODEL_MEMBER_H
#define RUNNER_MODEL_MEMBER_H

#include "runner/wire/provider.h"

struct model_member {
	enum model_member_kind { MEMBER_TEXT, MEMBER_HEADERS, MEMBER_COMMAND } kind;
	struct buf setting; /* the name of its setting; the caller releases it */
};

/* The provider of a section; NULL: there is none, or the provider has no section. */
const struct model_provider *model_provider_named(const char *name);

/* Find a member. -ENOENT: there is none, and *known lists the members there are; -ENOMEM. */
MUST_CHECK int model_member_find(const struct model_provider *provider, const char *name,
				 struct model_member *out, struct buf *known);

/* Append a member's value as the text of its setting. -EINVAL: *why says what is wrong; -ENOMEM. */
MUST_CHECK int model_member_text(const struct model_member *member, const json_t *value,
				 struct buf *text, const char **why);

#endif
