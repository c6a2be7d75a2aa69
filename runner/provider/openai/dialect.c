/*
 * Who speaks OpenAI's chat completions: a row each. Their prefixes and the names
 * of their settings are those of LiteLLM, and of their own SDKs where these
 * mean the same.
 */
#include "runner/provider/openai/openai.h"

#include "base/net/http.h"
#include "base/percent.h"
#include "runner/wire/endpoint.h"
#include "runner/wire/key.h"

#include <errno.h>
#include <strings.h>

#define LIKE_OPENAI (OPENAI_COMPLETION_TOKENS | OPENAI_DEVELOPER)

#define PROVIDER(symbol, label)                                                                    \
	const struct model_provider model_##symbol = {                                             \
		.name = (label),                                                                   \
		.settings = symbol##_settings,                                                     \
		.aliases = symbol##_aliases,                                                       \
		.dialect = &symbol##_dialect,                                                      \
		.framing = MODEL_SSE,                                                              \
		.schema_with_tools = true,                                                         \
		.encode = openai_encode,                                                           \
		.decoder_new = openai_decoder_new,                                                 \
		.decode = openai_decode,                                                           \
		.end = openai_end,                                                                 \
		.decoder_free = openai_decoder_free,                                               \
		.error_message = openai_error_message,                                             \
		.review = openai_review,                                                           \
	}

#define BASE_ALIAS(symbol, setting)                                                                \
	static const struct model_alias symbol##_aliases[] = { { "base_url", (setting) }, { 0 } }

/* With PREFIX_API_KEY, PREFIX_API_BASE and PREFIX_MAX_TOKENS_FIELD. */
#define DIALECT(symbol, prefix, ...)                                                               \
	static const struct model_setting symbol##_settings[] = {                                  \
		{ prefix "_API_KEY", MODEL_KEY },                                                  \
		{ prefix "_API_BASE", MODEL_PLAIN },                                               \
		{ prefix "_MAX_TOKENS_FIELD", MODEL_PLAIN },                                       \
		{ 0 },                                                                             \
	};                                                                                         \
	BASE_ALIAS(symbol, prefix "_API_BASE");                                                    \
	static const struct openai_dialect symbol##_dialect = {                                    \
		.settings = { prefix "_API_BASE" },                                                \
		.max_field = prefix "_MAX_TOKENS_FIELD",                                           \
		__VA_ARGS__                                                                        \
	};                                                                                         \
	PROVIDER(symbol, #symbol)

/* OpenAI itself, and with "openai/" whoever speaks as it does. */

static const struct model_setting openai_settings[] = {
	{ "OPENAI_API_KEY", MODEL_KEY },
	{ "OPENAI_BASE_URL", MODEL_PLAIN },
	{ "OPENAI_ORG_ID", MODEL_PLAIN },
	{ "OPENAI_PROJECT", MODEL_PLAIN },
	{ "OPENAI_MAX_TOKENS_FIELD", MODEL_PLAIN },
	{ 0 },
};
static const struct model_alias openai_aliases[] = { { 0 } }; /* base_url is its own name */
static const struct openai_dialect openai_dialect = {
	.base = "https://api.openai.com/v1",
	.host = "api.openai.com",
	.settings = { "OPENAI_BASE_URL" },
	.max_field = "OPENAI_MAX_TOKENS_FIELD",
	.quirks = LIKE_OPENAI,
};
PROVIDER(openai, "openai");

/* Azure: LiteLLM's names, and those of OpenAI's SDK. A token is no key: it has another header. */

#define AZURE_TOKEN     "AZURE_AD_TOKEN"
#define AZURE_SDK_TOKEN "AZURE_OPENAI_AD_TOKEN"

static const char *const azure_versions[] = { "AZURE_API_VERSION", "OPENAI_API_VERSION" };
static const struct model_setting azure_settings[] = {
	{ "AZURE_API_KEY", MODEL_KEY },
	{ "AZURE_OPENAI_API_KEY", MODEL_KEY },
	{ AZURE_TOKEN, MODEL_KEY },
	{ AZURE_SDK_TOKEN, MODEL_KEY },
	{ "AZURE_API_BASE", MODEL_PLAIN },
	{ "AZURE_OPENAI_ENDPOINT", MODEL_PLAIN },
	{ "AZURE_API_VERSION", MODEL_PLAIN },
	{ "OPENAI_API_VERSION", MODEL_PLAIN },
	{ "AZURE_MAX_TOKENS_FIELD", MODEL_PLAIN },
	{ 0 },
};
BASE_ALIAS(azure, "AZURE_API_BASE");
static const struct openai_dialect azure_dialect = {
	.settings = { "AZURE_API_BASE", "AZURE_OPENAI_ENDPOINT" },
	.max_field = "AZURE_MAX_TOKENS_FIELD",
	.quirks = LIKE_OPENAI | OPENAI_DEPLOYMENTS,
};
PROVIDER(azure, "azure");

static const struct model_setting openrouter_settings[] = {
	{ "OPENROUTER_API_KEY", MODEL_KEY },
	{ "OPENROUTER_API_BASE", MODEL_PLAIN },
	{ "OR_SITE_URL", MODEL_PLAIN },
	{ "OR_APP_NAME", MODEL_PLAIN },
	{ "OPENROUTER_MAX_TOKENS_FIELD", MODEL_PLAIN },
	{ 0 },
};
BASE_ALIAS(openrouter, "OPENROUTER_API_BASE");
static const struct openai_dialect openrouter_dialect = {
	.base = "https://openrouter.ai/api/v1",
	.host = "openrouter.ai",
	.settings = { "OPENROUTER_API_BASE" },
	.max_field = "OPENROUTER_MAX_TOKENS_FIELD",
};
PROVIDER(openrouter, "openrouter");

static const struct model_setting together_ai_settings[] = {
	{ "TOGETHERAI_API_KEY", MODEL_KEY },
	{ "TOGETHER_API_KEY", MODEL_KEY },
	{ "TOGETHER_AI_API_BASE", MODEL_PLAIN },
	{ "TOGETHER_BASE_URL", MODEL_PLAIN },
	{ "TOGETHER_AI_MAX_TOKENS_FIELD", MODEL_PLAIN },
	{ 0 },
};
BASE_ALIAS(together_ai, "TOGETHER_AI_API_BASE");
static const struct openai_dialect together_ai_dialect = {
	.base = "https://api.together.xyz/v1",
	.host = "api.together.xyz",
	.settings = { "TOGETHER_AI_API_BASE", "TOGETHER_BASE_URL" },
	.max_field = "TOGETHER_AI_MAX_TOKENS_FIELD",
};
PROVIDER(together_ai, "together_ai");

static const struct model_setting fireworks_ai_settings[] = {
	{ "FIREWORKS_API_KEY", MODEL_KEY },
	{ "FIREWORKS_AI_API_KEY", MODEL_KEY },
	{ "FIREWORKS_API_BASE", MODEL_PLAIN },
	{ "FIREWORKS_AI_MAX_TOKENS_FIELD", MODEL_PLAIN },
	{ 0 },
};
BASE_ALIAS(fireworks_ai, "FIREWORKS_API_BASE");
static const struct openai_dialect fireworks_ai_dialect = {
	.base = "https://api.fireworks.ai/inference/v1",
	.host = "api.fireworks.ai",
	.settings = { "FIREWORKS_API_BASE" },
	.max_field = "FIREWORKS_AI_MAX_TOKENS_FIELD",
};
PROVIDER(fireworks_ai, "fireworks_ai");

DIALECT(deepseek, "DEEPSEEK", .base = "https://api.deepseek.com", .host = "api.deepseek.com",
	.quirks = OPENAI_REASONING_BACK);
DIALECT(groq, "GROQ", .base = "https://api.groq.com/openai/v1", .host = "api.groq.com");
DIALECT(mistral, "MISTRAL", .base = "https://api.mistral.ai/v1", .host = "api.mistral.ai",
	.quirks = OPENAI_NO_STREAM_OPTIONS | OPENAI_SHORT_IDS | OPENAI_RANDOM_SEED);
DIALECT(xai, "XAI", .base = "https://api.x.ai/v1", .host = "api.x.ai");
DIALECT(hosted_vllm, "HOSTED_VLLM", .base = NULL);
DIALECT(lm_studio, "LM_STUDIO", .base = "http://127.0.0.1:1234/v1");
DIALECT(litellm_proxy, "LITELLM_PROXY", .base = NULL);

/* Hosts without a prefix of their own here. */
static const struct openai_dialect hosts[] = {
	{ .host = "generativelanguage.googleapis.com", .quirks = OPENAI_SIGNATURES },
	{ .host = ".openai.azure.com", .quirks = LIKE_OPENAI },
};

static const struct openai_dialect *const by_host[] = {
	&openai_dialect, &deepseek_dialect, &mistral_dialect, &hosts[0], &hosts[1],
};

static bool is_at(const struct openai_dialect *d, struct span base)
{
	struct span host = model_endpoint_host(base);
	size_t n = d->host ? strlen(d->host) : 0;

	if (!n || host.len < n || (d->host[0] != '.' && host.len != n))
		return false;
	return strncasecmp(host.data + host.len - n, d->host, n) == 0;
}

/* With "openai/" the host decides: a server of one's own knows what is old, and no more. */
static unsigned quirks_of(const struct openai_dialect *d, struct span base)
{
	size_t i;

	if (d != &openai_dialect)
		return d->quirks;
	for (i = 0; i < ARRAY_SIZE(by_host); i++) {
		if (is_at(by_host[i], base))
			return by_host[i]->quirks;
	}
	return 0;
}

static int find_base(const struct question *q, const struct openai_dialect *d, struct span *base,
		     struct err *err)
{
	struct model_endpoint at = { 0 };
	const char *setting = d->settings[0];
	size_t i;
	int r;

	for (i = ARRAY_SIZE(d->settings); i-- > 0;) {
		if (d->settings[i] && settings_get(q->settings, d->settings[i]))
			setting = d->settings[i];
	}
	if (!d->base && !settings_get(q->settings, setting))
		return err_set(err, -EINVAL, "%s is not set: it says where %s models are", setting,
			       q->provider->name);
	r = model_endpoint_find(q->settings, setting, d->base ? d->base : "", &at, err);
	*base = at.base;
	return r;
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
	r = find_base(q, d, &way->base, err);
	if (r < 0)
		return r;
	way->quirks = quirks_of(d, way->base);
	return find_max_field(q, d, way, err);
}

int openai_check_key(const struct question *q, const struct openai_way *way, struct err *err)
{
	if (!is_at(q->provider->dialect, way->base) || model_key(q->provider, q->settings))
		return 0;
	return model_key_missing(q->provider, err);
}

/* Addresses */

static bool ends_with(struct span text, const char *end)
{
	size_t n = strlen(end);

	return text.len >= n && span_is(span_sub(text, text.len - n, text.len), end);
}

/* The version of the older form of addresses; NULL: the newer form, which needs none. */
static const char *azure_version(const struct settings *settings)
{
	static const char *const newer[] = { "v1", "latest", "preview" };
	const char *version = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(azure_versions) && !version; i++)
		version = settings_get(settings, azure_versions[i]);
	for (i = 0; i < ARRAY_SIZE(newer) && version; i++) {
		if (strcmp(version, newer[i]) == 0)
			version = NULL;
	}
	return version;
}

static void put_deployment(const struct question *q, const struct openai_way *way, struct buf *url)
{
	const char *version = azure_version(q->settings);

	buf_span_add(url, way->base);
	if (ends_with(way->base, "/openai/v1"))
		version = NULL;
	else if (!version)
		buf_text(url, ends_with(way->base, "/openai") ? "/v1" : "/openai/v1");
	else if (!memmem(way->base.data, way->base.len, "/deployments/", 13)) {
		buf_text(url, ends_with(way->base, "/openai") ? "/deployments/"
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
	if (way->quirks & OPENAI_DEPLOYMENTS) {
		put_deployment(q, way, url);
	} else {
		buf_span_add(url, way->base);
		buf_text(url, "/chat/completions");
	}
	return buf_check(url, err);
}

/* Headers */

/* Sent by the providers that have the setting. */
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

static int put_key(const struct question *q, const struct openai_way *way, struct http_request *out,
		   struct err *err)
{
	struct model_header key = { .name = "Authorization", .prefix = "Bearer " };

	key.setting = model_key_name(q->provider, q->settings);
	if ((way->quirks & OPENAI_DEPLOYMENTS) && strcmp(key.setting, AZURE_TOKEN) != 0 &&
	    strcmp(key.setting, AZURE_SDK_TOKEN) != 0)
		key = (struct model_header){ key.setting, "api-key", "", NULL };
	return model_header_add(q->settings, &key, out, err);
}

int openai_headers(const struct question *q, const struct openai_way *way, struct http_request *out,
		   struct err *err)
{
	int r = http_request_header(out, "Content-Type: application/json");
	size_t i;

	if (r == 0)
		r = http_request_header(out, "Accept: text/event-stream");
	if (r == 0)
		r = put_key(q, way, out, err);
	for (i = 0; r == 0 && i < ARRAY_SIZE(headers); i++) {
		if (has_setting(q->provider, headers[i].setting))
			r = model_header_add(q->settings, &headers[i], out, err);
	}
	return r;
}
