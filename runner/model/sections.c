/*
 * The sections of the settings file: see sections.h.
 */
#include "runner/model/sections.h"

#include "base/net/secrets.h"
#include "runner/model/member.h"
#include "runner/settings/file.h"
#include "runner/syntax/yaml.h"

#include <errno.h>
#include <stdio.h>

#define APPS_MEMBER "apps"
#define PATH_MAX_OF 192 /* bytes of a member's path, as errors name it */

struct reader {
	struct settings_file *file; /* being filled */
	const struct yaml_tree *yaml;
	struct err *err;
};

/* A value as the text of its setting. */
static int take_value(struct reader *rd, const char *path, const json_t *value,
		      const struct model_member *member, struct buf *text)
{
	const char *why = NULL;
	int r = model_member_text(member, value, text, &why);

	return r == -EINVAL ? yaml_tree_fail(rd->yaml, rd->err, path, "%s", why) : r;
}

static int take_member(struct reader *rd, const struct model_provider *provider, const char *path,
		       const char *name, const json_t *value, struct values *into)
{
	CLEANUP(buf_release) struct buf known = { 0 };
	CLEANUP(secret_wipe) struct buf text = { 0 };
	struct model_member member = { 0 };
	int r = model_member_find(provider, name, &member, &known);

	if (r == -ENOENT && buf_cstr(&known))
		return yaml_tree_fail(rd->yaml, rd->err, path, "is unknown; the members are %s",
				      known.data);
	if (r == 0)
		r = take_value(rd, path, value, &member, &text);
	if (r == 0)
		r = values_put(into, buf_span(&member.setting), buf_span(&text));
	buf_release(&member.setting);
	return r == -ENOENT ? -ENOMEM : r;
}

/* The members of a provider's section. */
static int take_section(struct reader *rd, const char *path, const char *name,
			const json_t *section, struct values *into)
{
	const struct model_provider *provider = model_provider_named(name);
	const char *key;
	json_t *value;
	int r = 0;

	if (!provider)
		return yaml_tree_fail(rd->yaml, rd->err, path, "there is no provider '%.40s'",
				      name);
	if (!json_is_object(section))
		return yaml_tree_fail(rd->yaml, rd->err, path, "is not a mapping");
	json_object_foreach((json_t *)section, key, value)
	{
		char below[PATH_MAX_OF];

		if (r == 0) {
			(void)snprintf(below, sizeof below, "%s.%s", path, key);
			r = take_member(rd, provider, below, key, value, into);
		}
	}
	return r;
}

static int take_app(struct reader *rd, const char *name, const json_t *sections)
{
	struct values *into = NULL;
	char path[PATH_MAX_OF];
	const char *key;
	json_t *value;
	int r;

	(void)snprintf(path, sizeof path, APPS_MEMBER ".%s", name);
	if (!json_is_object(sections))
		return yaml_tree_fail(rd->yaml, rd->err, path, "is not a mapping");
	r = settings_file_add(rd->file, name, &into);
	json_object_foreach((json_t *)sections, key, value)
	{
		if (r == 0) {
			(void)snprintf(path, sizeof path, APPS_MEMBER ".%s.%s", name, key);
			r = take_section(rd, path, key, value, into);
		}
	}
	return r;
}

static int take_apps(struct reader *rd, json_t *apps)
{
	const char *key;
	json_t *value;
	int r = 0;

	if (!json_is_object(apps))
		return yaml_tree_fail(rd->yaml, rd->err, APPS_MEMBER, "is not a mapping");
	json_object_foreach(apps, key, value)
	{
		if (r == 0)
			r = take_app(rd, key, value);
	}
	return r;
}

static int take_all(struct reader *rd)
{
	const char *key;
	json_t *value;
	int r = 0;

	if (json_is_null(rd->yaml->root))
		return 0;
	if (!json_is_object(rd->yaml->root))
		return yaml_tree_fail(rd->yaml, rd->err, "", "the file is not a mapping");
	json_object_foreach(rd->yaml->root, key, value)
	{
		if (r == 0 && !strcmp(key, APPS_MEMBER))
			r = take_apps(rd, value);
		else if (r == 0)
			r = take_section(rd, key, key, value, settings_file_providers(rd->file));
	}
	return r;
}

/* Fill a settings_file with what its text says. A settings_parse_fn. */
static int parse(struct span text, const char *path, struct settings_file *file, struct err *err)
{
	CLEANUP(yaml_tree_free_p) struct yaml_tree *yaml = NULL;
	struct reader rd = { .file = file, .err = err };
	int r = yaml_tree_load(text, path, &yaml, err);

	if (r < 0)
		return r;
	rd.yaml = yaml;
	r = take_all(&rd);
	return r == -ENOMEM ? err_nomem(err) : r;
}

int model_settings_open(const char *path, struct err *err)
{
	return settings_file_open(path, parse, err);
}
