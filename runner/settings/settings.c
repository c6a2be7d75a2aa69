/*
 * Settings: see settings.h.
 */
#include "runner/settings/settings.h"

#include "base/json_text.h"
#include "base/net/secrets.h"
#include "base/utf8.h"
#include "runner/settings/dotenv.h"
#include "runner/settings/file.h"

#include <errno.h>
#include <stdlib.h>

struct settings {
	struct values own;
	const struct settings *below; /* NULL: nothing */
	struct settings_file *file;   /* NULL: none */
	char *app;
	bool alone; /* nothing else counts */
};

void settings_free(struct settings *settings)
{
	if (!settings)
		return;
	values_release(&settings->own);
	free(settings->app);
	settings_file_unref(settings->file);
	free(settings);
}

int settings_put(struct settings *settings, struct span name, struct span value)
{
	return values_put(&settings->own, name, value);
}

int settings_of_app(const char *app, struct settings **out)
{
	CLEANUP(settings_free_p) struct settings *settings = calloc(1, sizeof *settings);

	if (!settings)
		return -ENOMEM;
	settings->app = app ? strdup(app) : NULL;
	if (app && !settings->app)
		return -ENOMEM;
	settings->file = settings_file_now();
	*out = STEAL(&settings);
	return 0;
}

int settings_load(const char *folder, const char *app, struct settings **out, struct err *err)
{
	CLEANUP(settings_free_p) struct settings *settings = NULL;
	int r = settings_of_app(app, &settings);

	if (r < 0)
		return err_nomem(err);
	r = dotenv_load(folder, &settings->own, err);
	if (r < 0)
		return r;
	*out = STEAL(&settings);
	return 0;
}

int settings_over(const struct settings *below, struct settings **out)
{
	struct settings *settings = calloc(1, sizeof *settings);

	if (!settings)
		return -ENOMEM;
	settings->below = below;
	*out = settings;
	return 0;
}

static int take_member(void *arg, struct span key, struct span value)
{
	CLEANUP(secret_wipe) struct buf text = { 0 };
	int r = value.data[0] == '"' ? json_unquote(value, &text) : -EINVAL;

	return r < 0 ? r : settings_put(arg, key, buf_span(&text));
}

int settings_of(struct span object, struct settings **out)
{
	CLEANUP(settings_free_p) struct settings *settings = calloc(1, sizeof *settings);
	int r;

	if (!settings)
		return -ENOMEM;
	settings->alone = true;
	r = object.len && object.data[0] == '{' ? json_each(object, take_member, settings)
						: -EINVAL;
	if (r < 0)
		return r;
	*out = STEAL(&settings);
	return 0;
}

bool settings_are_stale(const struct settings *settings)
{
	struct settings_file *now = settings->alone ? NULL : settings_file_now();
	bool stale = !settings->alone && now != settings->file;

	settings_file_unref(now);
	return stale;
}

const char *settings_at(const struct settings *settings, enum settings_origin origin,
			const char *name)
{
	const char *value = NULL;

	if (settings && origin == SETTINGS_OWN)
		value = values_get(&settings->own, name);
	if (value || (settings && settings->alone))
		return value;
	if (settings && settings->below)
		return settings_at(settings->below, origin, name);
	if (origin == SETTINGS_ENVIRONMENT)
		return getenv(name);
	if (!settings || !settings->file || origin == SETTINGS_OWN)
		return NULL;
	if (origin == SETTINGS_PROVIDER)
		return settings_file_get(settings->file, NULL, name);
	return settings->app ? settings_file_get(settings->file, settings->app, name) : NULL;
}

const char *settings_get(const struct settings *settings, const char *name)
{
	const char *value = NULL;
	unsigned origin;

	for (origin = 0; !value && origin < SETTINGS_ORIGINS; origin++)
		value = settings_at(settings, origin, name);
	return value && *value ? value : NULL;
}

int settings_each(const struct settings *settings, values_fn *fn, void *arg)
{
	return values_each(&settings->own, fn, arg);
}
