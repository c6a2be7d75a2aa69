/*
 * Settings of providers without secrets, for .adkfs/config.json.
 */
#include "runner/model/ask.h"

#include "base/name.h"
#include "base/utf8.h"
#include "runner/model/options.h"
#include "runner/settings/file.h"
#include "runner/syntax/json_value.h"
#include "runner/wire/key.h"

/* Names of origins; the origins that are never shown have no name. */
static const char *const origins[SETTINGS_ORIGINS] = {
	[SETTINGS_APP] = "file",
	[SETTINGS_ENVIRONMENT] = "environment",
	[SETTINGS_PROVIDER] = "file",
};

/* The settings that are shown; for an app those of its section only. */
struct show {
	const struct model_provider *provider;
	const struct settings *settings;
	bool app;
	json_t *into;
};

/* The value that counts, and the name of its place; NULL: it is not set. */
static const char *find(const struct show *s, const char *name, const char **from)
{
	const char *value = NULL;
	unsigned origin;

	for (origin = 0; !value && origin < SETTINGS_ORIGINS; origin++) {
		if (s->app && origin != SETTINGS_APP)
			continue;
		value = settings_at(s->settings, origin, name);
		*from = origins[origin];
	}
	return value && *value ? value : NULL;
}

static int put(struct show *s, const char *name, const char *shown, const char *from)
{
	json_t *value = from ? json_pack("{s:s, s:s}", "value", shown, "from", from) : json_null();

	return json_object_set_new(s->into, name, value);
}

/* Show a setting. An address may hold a password before an '@'. */
static int show_value(struct show *s, const char *name, bool is_secret)
{
	struct secrets secrets = { 0 };
	const char *from = NULL;
	const char *value = find(s, name, &from);

	if (!value)
		return s->app ? 0 : put(s, name, NULL, NULL);
	model_secrets(s->provider, s->settings, &secrets);
	if (is_secret || strchr(value, '@') || secrets_in(&secrets, span_of(value)) ||
	    !utf8_is_valid(span_of(value)))
		value = SECRET_MASK;
	return put(s, name, value, from);
}

static int show_command(struct show *s, const char *key)
{
	char name[MODEL_SETTING_MAX];
	const char *from = NULL;

	model_command_name(key, name);
	return find(s, name, &from) ? put(s, name, SECRET_MASK, from) : 0;
}

/* Show the names of headers, and marks for their values. */
static int show_headers(struct show *s, const char *name)
{
	CLEANUP(buf_release) struct buf names = { 0 };
	const char *from = NULL;
	const char *value = find(s, name, &from);
	struct span rest = span_of(value);
	struct model_header_line line;

	if (!value)
		return 0;
	while (model_header_next(&rest, &line)) {
		if (line.is_valid)
			buf_printf(&names, "%s%.*s: " SECRET_MASK, names.len ? ", " : "",
				   (int)line.name.len, line.name.data);
	}
	return buf_cstr(&names) ? put(s, name, names.data, from) : -1;
}

static int show_common(struct show *s)
{
	char name[MODEL_SETTING_MAX];
	const char *from = NULL;
	unsigned which;
	int r = 0;

	for (which = 0; r == 0 && which < MODEL_COMMONS; which++) {
		model_common_name(s->provider, which, name);
		if (which == MODEL_COMMON_HEADERS)
			r = show_headers(s, name);
		else if (find(s, name, &from))
			r = show_value(s, name, false);
	}
	return r;
}

static int show_provider(struct show *s)
{
	const struct model_setting *setting;
	int r = 0;

	for (setting = s->provider->settings; r == 0 && setting->name; setting++) {
		r = show_value(s, setting->name, setting->kind != MODEL_PLAIN);
		if (r == 0 && setting->kind == MODEL_KEY)
			r = show_command(s, setting->name);
	}
	return r < 0 ? r : show_common(s);
}

/* The settings of all providers, with an app's section or without. NULL: no memory. */
static json_t *show_all(const char *app)
{
	CLEANUP(settings_free_p) struct settings *settings = NULL;
	const struct model_provider *const *providers;
	struct show s = { .app = app != NULL, .into = json_object() };
	size_t count;
	size_t i;
	int r = s.into ? settings_of_app(app, &settings) : -1;

	if (r == 0 && !app)
		r = model_ask_options_show(s.into);
	providers = model_providers(&count);
	s.settings = settings;
	for (i = 0; r == 0 && i < count; i++) {
		s.provider = providers[i];
		if (s.provider->settings)
			r = show_provider(&s);
	}
	if (r == 0)
		return s.into;
	json_decref(s.into);
	return NULL;
}

static int show_app(void *arg, const char *app)
{
	return json_object_set_new(arg, app, show_all(app));
}

static json_t *show_apps(void)
{
	CLEANUP(settings_file_unref_p) struct settings_file *file = settings_file_now();
	json_t *apps = json_object();

	if (!apps || !file || settings_file_each_app(file, show_app, apps) == 0)
		return apps;
	json_decref(apps);
	return NULL;
}

json_t *model_show_settings(void)
{
	struct err why = { 0 };
	int r = settings_file_reason(&why);

	return json_pack("{s:o, s:o, s:o, s:o}", "file", json_value_text(settings_file_where()),
			 "reason", json_value_text(r < 0 ? why.text : NULL), "values",
			 show_all(NULL), "apps", show_apps());
}
