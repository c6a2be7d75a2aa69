/*
 * Settings: names and values such as OPENAI_API_KEY. They come from four
 * places, and the first place that knows a name decides: the `.env` file of an
 * agent's folder (dotenv.h); the app's section of the settings file (file.h);
 * the daemon's environment; a provider's section of the settings file.
 *
 * Values are secrets: they never enter an event, an error, a log line or the
 * environment of a child.
 */
#ifndef RUNNER_SETTINGS_SETTINGS_H
#define RUNNER_SETTINGS_SETTINGS_H

#include "runner/settings/values.h"

struct settings;

/* The places of values, in the order in which they count. */
enum settings_origin {
	SETTINGS_OWN,         /* the .env of the folder, and settings_put() */
	SETTINGS_APP,         /* the app's section of the settings file */
	SETTINGS_ENVIRONMENT, /* the daemon's environment */
	SETTINGS_PROVIDER,    /* a provider's section of the settings file */
	SETTINGS_ORIGINS,
};

/*
 * Load the settings of an agent's folder and of an app; app may be NULL. They do not change when
 * the settings file does. -EINVAL names the line of FOLDER/.env; another -errno.
 */
MUST_CHECK int settings_load(const char *folder, const char *app, struct settings **out,
			     struct err *err);

/* Load the settings of an app without an agent's folder; app may be NULL. -ENOMEM. */
MUST_CHECK int settings_of_app(const char *app, struct settings **out);

/* Make settings of a JSON object of strings; the other places do not count. -EINVAL; -ENOMEM. */
MUST_CHECK int settings_of(struct span object, struct settings **out);

/* Make settings on top of others, which are borrowed; NULL: only the environment. -ENOMEM. */
MUST_CHECK int settings_over(const struct settings *below, struct settings **out);

/* Set a value that counts before all places; a later value wins. Not while others read. -ENOMEM. */
MUST_CHECK int settings_put(struct settings *settings, struct span name, struct span value);

void settings_free(struct settings *settings);
DEFINE_CLEANUP(struct settings, settings_free);

/* Whether the settings file has changed since these settings were loaded. */
bool settings_are_stale(const struct settings *settings);

/*
 * The value in one place, borrowed; "" hides the values of later places; NULL: the place does not
 * know the name. settings NULL: only the environment.
 */
const char *settings_at(const struct settings *settings, enum settings_origin origin,
			const char *name);

/* The value of the first place that knows the name; NULL when unset or empty. Borrowed. */
const char *settings_get(const struct settings *settings, const char *name);

/* Call fn with the names of the settings' own values. Not 0 ends the loop and is returned. */
int settings_each(const struct settings *settings, values_fn *fn, void *arg);

#endif
