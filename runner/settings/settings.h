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
	SETTINGS_OWN,         /* .env of the folder, or what was put */
	SETTINGS_APP,         /* the app's section of the settings file */
	SETTINGS_ENVIRONMENT, /* the daemon's */
	SETTINGS_PROVIDER,    /* a provider's section of the settings file */
	SETTINGS_ORIGINS,
};

/*
 * Load the settings of an agent's folder and of an app, whose section of the settings file
 * counts; app may be NULL. These settings do not change when the settings file does.
 * -EINVAL names file and line of FOLDER/.env; -errno.
 */
MUST_CHECK int settings_load(const char *folder, const char *app, struct settings **out,
			     struct err *err);

/* The settings of an app without a folder. -ENOMEM. */
MUST_CHECK int settings_of_app(const char *app, struct settings **out);

/* The members of a JSON object of texts, and nothing from other places. -EINVAL; -ENOMEM. */
MUST_CHECK int settings_of(struct span object, struct settings **out);

/* New settings on top of others, which are borrowed; NULL is the environment alone. -ENOMEM. */
MUST_CHECK int settings_over(const struct settings *below, struct settings **out);

/* Set a value that goes before all places; a later value wins. Before others use them. -ENOMEM. */
MUST_CHECK int settings_put(struct settings *settings, struct span name, struct span value);

void settings_free(struct settings *settings);
DEFINE_CLEANUP(struct settings, settings_free);

/* Whether the settings file has changed since. */
bool settings_are_stale(const struct settings *settings);

/*
 * The value that one place has; "" hides the values of later places; NULL: the place does
 * not know the name. Borrowed. settings: NULL is the environment alone.
 */
const char *settings_at(const struct settings *settings, enum settings_origin origin,
			const char *name);

/* The value of the first place that knows the name; NULL when unset or empty. Borrowed. */
const char *settings_get(const struct settings *settings, const char *name);

/* Call fn with the names of the settings' own values. Not 0 ends the loop and is returned. */
int settings_each(const struct settings *settings, values_fn *fn, void *arg);

#endif
