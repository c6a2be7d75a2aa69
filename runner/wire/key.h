/*
 * Keys of providers: where a key comes from, and which texts must stay hidden.
 */
#ifndef RUNNER_WIRE_KEY_H
#define RUNNER_WIRE_KEY_H

#include "base/net/secrets.h"
#include "runner/wire/setting.h"

/*
 * The name of the setting that holds the key. If no key is set: the first setting that can hold
 * one. NULL: the provider has no keys.
 */
const char *model_key_name(const struct model_provider *provider, const struct settings *settings);

/* The key; NULL: it is not set. Borrowed. */
const char *model_key(const struct model_provider *provider, const struct settings *settings);

/*
 * The command that prints the key, if a command gives it; else NULL. *name is the setting whose
 * value the key becomes. Both are borrowed.
 */
const char *model_key_command(const struct model_provider *provider,
			      const struct settings *settings, const char **name);

/* Report that a setting is missing, and where it can be set. -EACCES. */
int model_setting_missing(const char *name, struct err *err);

/* Report that the key of a provider is missing. -EACCES. */
int model_key_missing(const struct model_provider *provider, struct err *err);

/* Add all secrets in the provider's settings. */
void model_secrets(const struct model_provider *provider, const struct settings *settings,
		   struct secrets *out);

#endif
