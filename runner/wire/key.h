/*
 * Keys of providers: where a key comes from, and which texts must stay hidden.
 */
#ifndef RUNNER_WIRE_KEY_H
#define RUNNER_WIRE_KEY_H

#include "base/net/secrets.h"
#include "runner/wire/setting.h"

/* The setting that holds the key; without a key the first that could. NULL: there is none. */
const char *model_key_name(const struct model_provider *provider, const struct settings *settings);

/* The key; NULL: it is not set. Borrowed. */
const char *model_key(const struct model_provider *provider, const struct settings *settings);

/*
 * The command that gives the key, and the name of the setting that the key
 * stands for; NULL: no command gives it. Borrowed.
 */
const char *model_key_command(const struct model_provider *provider,
			      const struct settings *settings, const char **name);

/* Report that a setting is missing, and where to put it. -EACCES. */
int model_setting_missing(const char *name, struct err *err);

/* Report that the key of a provider is missing. -EACCES. */
int model_key_missing(const struct model_provider *provider, struct err *err);

/* Add the texts of the provider's settings that nobody may see. */
void model_secrets(const struct model_provider *provider, const struct settings *settings,
		   struct secrets *out);

#endif
