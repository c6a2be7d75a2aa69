/*
 * How to ask a service that speaks OpenAI's chat completions: its address, its quirks and
 * the headers.
 */
#include "runner/provider/openai/openai.h"

#include "base/net/http.h"
#include "base/percent.h"
#include "runner/wire/key.h"

#include <errno.h>
#include <strings.h>

struct model_name_rule openai_name_rule(const struct model_provider *provider)
{
	return (struct model_name_rule){ provider->name, "", 64 };
}

static bool is_at(const struct openai_dialect *d, const char *host)
{
	size_t n = d->host ? strlen(d->host) : 0;
	size_t len = strlen(host);

	if (!n || len < n || (d->host[0] != '.' && len != n))
		return false;
	return strcasecmp(host + len - n, d->host) == 0;
}

static unsigned quirks_of(const struct openai_dialect *d, const char *host)
{
	const struct openai_dialect *const *other = d->hosts;

	if (!other || is_at(d, host))
		return d->quirks;
	while (*other && !is_at(*other, host))
		other++;
	return *other ? (*other)->quirks : 0;
}

static int find_endpoint(const struct question *q, const struct openai_dialect *d,
			 struct model_endpoint *at, struct err *err)
{
	const char *setting = d->settings[0];
	size_t i;

	for (i = ARRAY_SIZE(d->settings); i-- > 0;) {
		if (d->settings[i] && settings_get(q->settings, d->settings[i]))
			setting = d->settings[i];
	}
	if (!d->base && !settings_get(q->settings, setting))
		return err_set(err, -EINVAL, "%s is not set: it must hold the address of %s models",
			       setting, q->provider->name);
	return model_endpoint_find(q->settings, setting, d->base ? d->base : "", at, err);
}

static int find_max_field(const struct question *q, const struct openai_dialect *d,
			  struct openai_way *way, struct err *err)
{
	static const char *const fields[] = { "max_tokens", "max_completion_tokens" };
	const char *wanted = settings_get(q->settings, d->max_field);
	size_t i;

	way->max_tokens = fields[(way->quirks & OPENAI_COMPLETION_TOKENS) != 0];
	if (!wanted)
		return 0;
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		if (strcmp(wanted, fields[i]) == 0) {
			way->max_tokens = fields[i];
			return 0;
		}
	}
	return err_set(err, -EINVAL, "%s is neither %s nor %s", d->max_field, fields[0], fields[1]);
}

int openai_way_find(const struct question *q, struct openai_way *way, struct err *err)
{
	const struct openai_dialect *d = q->provider->dialect;
	int r;

	*way = (struct openai_way){ .provider = q->provider };
	r = find_endpoint(q, d, &way->at, err);
	if (r < 0)
		return r;
	way->quirks = quirks_of(d, way->at.host);
	return find_max_field(q, d, way, err);
}

int openai_check_key(const struct question *q, const struct openai_way *way, struct err *err)
{
	if (!is_at(q->provider->dialect, way->at.host) || model_key(q->provider, q->settings))
		return 0;
	return model_key_missing(q->provider, err);
}

/* Addresses */

static bool ends_with(struct span text, const char *end)
{
	size_t n = strlen(end);

	return text.len >= n && span_is(span_sub(text, text.len - n, text.len), end);
}

/* The version for the older form of addresses; NULL: the newer form, without a version. */
static const char *deployment_version(const struct question *q)
{
	static const char *const newer[] = { "v1", "latest", "preview" };
	const struct openai_dialect *d = q->provider->dialect;
	const char *version = NULL;
	size_t i;

	for (i = 0; d->versions[i] && !version; i++)
		version = settings_get(q->settings, d->versions[i]);
	for (i = 0; i < ARRAY_SIZE(newer) && version; i++) {
		if (strcmp(version, newer[i]) == 0)
			version = NULL;
	}
	return version;
}

static void put_deployment(const struct question *q, const struct openai_way *way, struct buf *url)
{
	const char *version = deployment_version(q);

	buf_span_add(url, way->at.base);
	if (ends_with(way->at.base, "/openai/v1"))
		version = NULL;
	else if (!version)
		buf_text(url, ends_with(way->at.base, "/openai") ? "/v1" : "/openai/v1");
	else if (!memmem(way->at.base.data, way->at.base.len, "/deployments/", 13)) {
		buf_text(url, ends_with(way->at.base, "/openai") ? "/deployments/"
								 : "/openai/deployments/");
		percent_encode(url, span_of(q->name), "");
	}
	buf_text(url, "/chat/completions");
	if (version) {
		buf_text(url, "?api-version=");
		percent_encode(url, span_of(version), "");
	}
}

int openai_url(const struct question *q, const struct openai_way *way, struct buf *url,
	       struct err *err)
{
	const struct openai_dialect *d = q->provider->dialect;

	if (d->versions) {
		put_deployment(q, way, url);
	} else {
		buf_span_add(url, way->at.base);
		buf_text(url, "/chat/completions");
	}
	return buf_check(url, err);
}

/* Headers */

/* Headers of all providers that have the setting. */
static const struct model_header headers[] = {
	{ "OPENAI_ORG_ID", "OpenAI-Organization", "", NULL },
	{ "OPENAI_PROJECT", "OpenAI-Project", "", NULL },
	{ "OR_SITE_URL", "HTTP-Referer", "", NULL },
	{ "OR_APP_NAME", "X-Title", "", NULL },
};

static bool has_setting(const struct model_provider *provider, const char *name)
{
	const struct model_setting *s;

	for (s = provider->settings; s->name; s++) {
		if (strcmp(s->name, name) == 0)
			return true;
	}
	return false;
}

static int put_key(const struct question *q, struct http_request *out, struct err *err)
{
	const struct openai_dialect *d = q->provider->dialect;
	const char *setting = model_key_name(q->provider, q->settings);
	const char *const *token = d->tokens;
	struct model_header key = { setting, "Authorization", "Bearer ", NULL };

	while (token && *token && strcmp(*token, setting) != 0)
		token++;
	if (d->key_header && (!token || !*token))
		key = (struct model_header){ setting, d->key_header, "", NULL };
	return model_header_add(q->settings, &key, out, err);
}

int openai_headers(const struct question *q, struct http_request *out, struct err *err)
{
	int r = model_headers_begin(q->provider, out);
	size_t i;

	if (r == 0)
		r = put_key(q, out, err);
	for (i = 0; r == 0 && i < ARRAY_SIZE(headers); i++) {
		if (has_setting(q->provider, headers[i].setting))
			r = model_header_add(q->settings, &headers[i], out, err);
	}
	return r;
}
