/*
 * Keys of providers: see key.h.
 */
#include "runner/wire/key.h"

#include "runner/settings/file.h"

#include <errno.h>

/* The source of a key: a value, or a command that prints it. */
struct source {
	const struct model_setting *key;
	const char *value;
	const char *command;
};

/* The value in a place; NULL if an earlier place, from `from` on, knows the name. */
static const char *value_of(const struct settings *settings, enum settings_origin from,
			    enum settings_origin origin, const char *name)
{
	unsigned before;

	for (before = from; before < origin; before++) {
		if (settings_at(settings, before, name))
			return NULL;
	}
	return settings_at(settings, origin, name);
}

/* The command in a place for a key. A value of the key, even an empty one, hides the command. */
static const char *command_of(const struct settings *settings, enum settings_origin origin,
			      const char *key)
{
	char name[MODEL_SETTING_MAX];
	unsigned before;

	for (before = 0; before <= origin; before++) {
		if (settings_at(settings, before, key))
			return NULL;
	}
	model_command_name(key, name);
	return origin == SETTINGS_OWN ? NULL : value_of(settings, SETTINGS_APP, origin, name);
}

static bool is_set(const char *value)
{
	return value && *value;
}

/* The first place that has a key decides; within a place, the first key in the table. */
static struct source find_source(const struct model_provider *provider,
				 const struct settings *settings)
{
	const struct model_setting *s;
	unsigned origin;

	for (origin = 0; origin < SETTINGS_ORIGINS; origin++) {
		for (s = provider->settings; s && s->name; s++) {
			struct source found = { .key = s };

			if (s->kind != MODEL_KEY)
				continue;
			found.value = value_of(settings, SETTINGS_OWN, origin, s->name);
			found.command = command_of(settings, origin, s->name);
			if (is_set(found.value) || is_set(found.command))
				return found;
		}
	}
	return (struct source){ .key = model_first_key(provider) };
}

const char *model_key_name(const struct model_provider *provider, const struct settings *settings)
{
	struct source source = find_source(provider, settings);

	return source.key ? source.key->name : NULL;
}

const char *model_key(const struct model_provider *provider, const struct settings *settings)
{
	struct source source = find_source(provider, settings);

	return is_set(source.value) ? source.value : NULL;
}

const char *model_key_command(const struct model_provider *provider,
			      const struct settings *settings, const char **name)
{
	struct source source = find_source(provider, settings);

	if (!is_set(source.command))
		return NULL;
	*name = source.key->name;
	return source.command;
}

int model_setting_missing(const char *name, struct err *err)
{
	struct err why = { 0 };

	if (settings_file_reason(&why) < 0)
		return err_set(err, -EACCES, "%s is not set, and the settings file is not used: %s",
			       name, why.text);
	return err_set(err, -EACCES,
		       "%s is not set: put it into .env of the agent's folder, into the settings "
		       "file or into the daemon's environment",
		       name);
}

int model_key_missing(const struct model_provider *provider, struct err *err)
{
	return model_setting_missing(model_first_key(provider)->name, err);
}

/* Secrets */

static void add_headers(struct secrets *out, const char *text)
{
	struct span rest = span_of(text);
	struct model_header_line line;

	while (model_header_next(&rest, &line))
		secrets_add_header(out, line.is_valid ? line.value : line.text);
}

void model_secrets(const struct model_provider *provider, const struct settings *settings,
		   struct secrets *out)
{
	const struct model_setting *s;
	char name[MODEL_SETTING_MAX];

	for (s = provider->settings; s && s->name; s++) {
		if (s->kind == MODEL_PLAIN)
			secrets_add_url(out, settings_get(settings, s->name));
		else
			secrets_add(out, settings_get(settings, s->name));
	}
	if (!provider->settings)
		return;
	model_common_name(provider, MODEL_COMMON_HEADERS, name);
	add_headers(out, settings_get(settings, name));
	model_common_name(provider, MODEL_COMMON_PROXY, name);
	secrets_add_url(out, settings_get(settings, name));
}
