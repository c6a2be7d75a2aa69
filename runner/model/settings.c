/*
 * Settings of providers: see settings.h.
 */
#include "runner/model/settings.h"

#include "base/net/url.h"
#include "runner/model/ask.h"
#include "runner/wire/setting.h"

#include <errno.h>
#include <stdio.h>

static int apply_headers(const char *setting, const char *text, struct http_request *rq,
			 struct err *err)
{
	struct span rest = span_of(text);
	struct model_header_line line;
	int r = 0;

	while (r == 0 && model_header_next(&rest, &line)) {
		if (!line.is_valid)
			return err_set(err, -EINVAL,
				       "%s has a line that is not of the form NAME: VALUE",
				       setting);
		r = http_request_replace(rq, line.name, line.value);
	}
	if (r == -EINVAL)
		return err_set(err, r, "%s holds a control character", setting);
	return r == -E2BIG ? err_set(err, -EINVAL, "%s has too many headers", setting) : r;
}

/* Check the address first: errors of libcurl about a proxy quote its password. */
static int apply_proxy(const char *setting, const char *text, struct http_request *rq,
		       struct err *err)
{
	static const char *const schemes[] = { "http",    "https",  "socks4",
					       "socks4a", "socks5", "socks5h" };
	CLEANUP(url_release) struct url url = { 0 };
	size_t i = 0;
	int r = url_parse(text, &url);

	if (r == -ENOMEM)
		return r;
	while (i < ARRAY_SIZE(schemes) && !url_has_scheme(text, schemes[i]))
		i++;
	if (r < 0 || i == ARRAY_SIZE(schemes))
		return err_set(err, -EINVAL,
			       "%s is not an address that begins with http://, https:// or "
			       "socks5://",
			       setting);
	buf_text(&rq->proxy, text);
	return buf_cstr(&rq->proxy) ? 0 : -ENOMEM;
}

static int apply_ca_file(const char *setting, const char *text, struct http_request *rq,
			 struct err *err)
{
	if (text[0] != '/')
		return err_set(err, -EINVAL, "%s is not an absolute path", setting);
	buf_text(&rq->ca_file, text);
	return buf_cstr(&rq->ca_file) ? 0 : -ENOMEM;
}

/* The file of certificates for all providers. */
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
