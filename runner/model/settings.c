/*
 * Settings of providers: see settings.h. What people may see of them is
 * in show.c, what the settings file calls them in member.c.
 */
#include "runner/model/settings.h"

#include "runner/mcp/link.h"
#include "runner/model/member.h"
#include "runner/settings/file.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* How models are asked */

static const struct ask_option {
	const char *setting;
	size_t at;
	unsigned value; /* unless set */
	unsigned max;
} ask_options[] = {
	{ "ADKFS_MODEL_RETRIES", offsetof(struct model_ask_options, retries), 2, 10 },
	{ "ADKFS_MODEL_CONNECT_MS", offsetof(struct model_ask_options, limits.connect_ms), 10000,
	  600000 },
	{ "ADKFS_MODEL_FIRST_BYTE_MS", offsetof(struct model_ask_options, limits.first_byte_ms),
	  600000, 86400000 },
	{ "ADKFS_MODEL_IDLE_MS", offsetof(struct model_ask_options, limits.idle_ms), 120000,
	  86400000 },
};

static int read_option(const struct settings *settings, const struct ask_option *o, unsigned *out,
		       struct err *err)
{
	const char *text = settings_get(settings, o->setting);
	char *end;
	unsigned long value;

	*out = o->value;
	if (!text)
		return 0;
	errno = 0;
	value = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || value > o->max)
		return err_set(err, -EINVAL, "%s is not a number from 0 to %u", o->setting, o->max);
	*out = (unsigned)value;
	return 0;
}

int model_ask_options_read(const struct settings *settings, struct model_ask_options *out,
			   struct err *err)
{
	int r = 0;
	size_t i;

	for (i = 0; r == 0 && i < ARRAY_SIZE(ask_options); i++) {
		unsigned *value = (unsigned *)(void *)((char *)out + ask_options[i].at);

		r = read_option(settings, &ask_options[i], value, err);
	}
	return r;
}

const char *model_ask_option(size_t number, json_t **value)
{
	unsigned n;

	if (number >= ARRAY_SIZE(ask_options))
		return NULL;
	*value = read_option(NULL, &ask_options[number], &n, NULL) < 0 ? json_string("not a number")
								       : json_integer(n);
	return ask_options[number].setting;
}

/* Keys */

/* Where a key comes from: a value, or a command that prints it. */
struct source {
	const struct model_setting *key;
	const char *value;
	const char *command;
};

/* What a place says, unless one before it knows the name; from: the first that counts. */
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

/* The command that a place has for a key; an empty value of the key hides it too. */
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

/* The first place that has a key decides, and in it the first of the table. */
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

/* What is in every request */

/* Take the next line that is not empty. */
static bool next_line(struct span *rest, struct span *line)
{
	while (rest->len) {
		const char *lf = memchr(rest->data, '\n', rest->len);
		size_t n = lf ? (size_t)(lf - rest->data) : rest->len;

		*line = span_sub(*rest, 0, n);
		*rest = span_sub(*rest, n + (lf != NULL), rest->len);
		*line = span_trim_end(*line);
		if (line->len)
			return true;
	}
	return false;
}

/* Headers that libcurl writes by what it sends. */
static bool is_framing(struct span name)
{
	static const char *const names[] = { "content-length", "transfer-encoding", "expect" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (name.len == strlen(names[i]) && !strncasecmp(name.data, names[i], name.len))
			return true;
	}
	return false;
}

bool model_header_split(struct span line, struct span *name, struct span *value)
{
	const char *colon = memchr(line.data, ':', line.len);

	*name = span_sub(line, 0, colon ? (size_t)(colon - line.data) : 0);
	*value = span_sub(line, colon ? name->len + 1 : line.len, line.len);
	while (value->len && strchr(" \t", value->data[0]))
		*value = span_sub(*value, 1, value->len);
	return colon && mcp_is_token(*name) && !is_framing(*name);
}

static int apply_headers(const char *setting, const char *text, struct http_request *rq,
			 struct err *err)
{
	struct span rest = span_of(text);
	struct span line;
	int r = 0;

	while (r == 0 && next_line(&rest, &line)) {
		struct span name;
		struct span value;

		if (!model_header_split(line, &name, &value))
			return err_set(err, -EINVAL,
				       "%s has a line that is not of the form NAME: VALUE",
				       setting);
		r = http_request_replace(rq, name, value);
	}
	if (r == -EINVAL)
		return err_set(err, r, "%s holds a control character", setting);
	return r == -E2BIG ? err_set(err, -EINVAL, "%s has too many headers", setting) : r;
}

/* Errors of libcurl about a proxy quote it, with its password: they are not to come up. */
static int apply_proxy(const char *setting, const char *text, struct http_request *rq,
		       struct err *err)
{
	static const char *const schemes[] = { "http://",    "https://",  "socks4://",
					       "socks4a://", "socks5://", "socks5h://" };
	size_t n = strcspn(text, " \t\r\n");
	size_t i;

	for (i = 0; i < ARRAY_SIZE(schemes) && !text[n]; i++) {
		if (strncasecmp(text, schemes[i], strlen(schemes[i])) != 0 ||
		    !text[strlen(schemes[i])])
			continue;
		buf_text(&rq->proxy, text);
		return buf_cstr(&rq->proxy) ? 0 : -ENOMEM;
	}
	return err_set(err, -EINVAL,
		       "%s is not an address that begins with http://, https:// or socks5://",
		       setting);
}

static int apply_ca_file(const char *setting, const char *text, struct http_request *rq,
			 struct err *err)
{
	if (text[0] != '/')
		return err_set(err, -EINVAL, "%s is not an absolute path", setting);
	buf_text(&rq->ca_file, text);
	return buf_cstr(&rq->ca_file) ? 0 : -ENOMEM;
}

/* One for all providers, where the provider has none of its own. */
static const char *find_ca_file(const struct settings *settings, const char **setting)
{
	static const char *const names[] = { "ADKFS_CA_FILE", "SSL_CERT_FILE" };
	const char *value = NULL;
	size_t i;

	for (i = 0; !value && i < ARRAY_SIZE(names); i++) {
		*setting = names[i];
		value = settings_get(settings, names[i]);
	}
	return value;
}

int model_settings_apply(const struct model_provider *provider, const struct settings *settings,
			 struct http_request *rq, struct err *err)
{
	static int (*const apply[])(const char *, const char *, struct http_request *,
				    struct err *) = {
		[MODEL_COMMON_HEADERS] = apply_headers,
		[MODEL_COMMON_PROXY] = apply_proxy,
		[MODEL_COMMON_CA_FILE] = apply_ca_file,
	};
	unsigned which;
	int r = 0;

	for (which = 0; r == 0 && which < MODEL_COMMONS; which++) {
		char name[MODEL_SETTING_MAX];
		const char *setting = name;
		const char *value;

		model_common_name(provider, which, name);
		value = settings_get(settings, name);
		if (!value && which == MODEL_COMMON_CA_FILE)
			value = find_ca_file(settings, &setting);
		if (value)
			r = apply[which](setting, value, rq, err);
	}
	return r;
}

/* What has to stay hidden */

static void add_headers(struct secrets *out, const char *text)
{
	struct span rest = span_of(text);
	struct span line;
	struct span name;
	struct span value;
	const char *blank;

	while (next_line(&rest, &line)) {
		if (!model_header_split(line, &name, &value))
			value = line;
		secrets_add_span(out, value);
		blank = memchr(value.data, ' ', value.len);
		if (blank) /* "Bearer KEY": services repeat the key alone */
			secrets_add_span(
				out, span_sub(value, (size_t)(blank + 1 - value.data), value.len));
	}
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

/* Folders */

struct folder_review {
	model_review_fn *fn;
	void *arg;
};

static bool is_command_of(const struct model_provider *provider, const char *name)
{
	const struct model_setting *s;
	char command[MODEL_SETTING_MAX];

	for (s = provider->settings; s && s->name; s++) {
		model_command_name(s->name, command);
		if (s->kind == MODEL_KEY && !strcmp(command, name))
			return true;
	}
	return false;
}

static int review_name(void *arg, const char *name)
{
	const struct folder_review *review = arg;
	const struct model_provider *const *providers;
	char text[2 * MODEL_SETTING_MAX];
	size_t count;
	size_t i;

	providers = model_providers(&count);
	for (i = 0; i < count; i++) {
		if (!is_command_of(providers[i], name))
			continue;
		(void)snprintf(text, sizeof text,
			       ".env: %s is not used: programs for keys are taken from the "
			       "settings file and the daemon's environment only",
			       name);
		return review->fn(review->arg, text);
	}
	return 0;
}

int model_settings_review(const struct settings *settings, model_review_fn *fn, void *arg)
{
	struct folder_review review = { fn, arg };

	return settings_each(settings, review_name, &review);
}
