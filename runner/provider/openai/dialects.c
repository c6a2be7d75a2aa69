/*
 * Services that speak OpenAI's chat completions. Their prefixes and the names of their
 * settings are LiteLLM's. Settings of their own SDKs with the same meaning count too.
 */
#include "runner/provider/openai/openai.h"

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
		.decoder = &openai_decoder,                                                        \
		.error_message = openai_error_message,                                             \
		.review = openai_review,                                                           \
	}

#define BASE_ALIAS(symbol, setting)                                                                \
	static const struct model_alias symbol##_aliases[] = { { "base_url", (setting) }, { 0 } }

/* A service with PREFIX_API_KEY, PREFIX_API_BASE and PREFIX_MAX_TOKENS_FIELD. */
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

/* Azure has the names of LiteLLM and of OpenAI's SDK. A key and a token have different headers. */

#define AZURE_TOKEN       "AZURE_AD_TOKEN"
#define AZURE_SDK_TOKEN   "AZURE_OPENAI_AD_TOKEN"
#define AZURE_VERSION     "AZURE_API_VERSION"
#define AZURE_SDK_VERSION "OPENAI_API_VERSION"

static const char *const azure_tokens[] = { AZURE_TOKEN, AZURE_SDK_TOKEN, NULL };
static const char *const azure_versions[] = { AZURE_VERSION, AZURE_SDK_VERSION, NULL };
static const struct model_setting azure_settings[] = {
	{ "AZURE_API_KEY", MODEL_KEY },
	{ "AZURE_OPENAI_API_KEY", MODEL_KEY },
	{ AZURE_TOKEN, MODEL_KEY },
	{ AZURE_SDK_TOKEN, MODEL_KEY },
	{ "AZURE_API_BASE", MODEL_PLAIN },
	{ "AZURE_OPENAI_ENDPOINT", MODEL_PLAIN },
	{ AZURE_VERSION, MODEL_PLAIN },
	{ AZURE_SDK_VERSION, MODEL_PLAIN },
	{ "AZURE_MAX_TOKENS_FIELD", MODEL_PLAIN },
	{ 0 },
};
BASE_ALIAS(azure, "AZURE_API_BASE");
static const struct openai_dialect azure_dialect = {
	.settings = { "AZURE_API_BASE", "AZURE_OPENAI_ENDPOINT" },
	.max_field = "AZURE_MAX_TOKENS_FIELD",
	.key_header = "api-key",
	.tokens = azure_tokens,
	.versions = azure_versions,
	.quirks = LIKE_OPENAI,
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

/* Dialects of hosts that have no provider here. */
static const struct openai_dialect google = {
	.host = "generativelanguage.googleapis.com",
	.quirks = OPENAI_SIGNATURES,
};
static const struct openai_dialect azure_host = {
	.host = ".openai.azure.com",
	.quirks = LIKE_OPENAI,
};

/*
 * OpenAI, and every server at OPENAI_BASE_URL: the host decides the dialect. A request to an
 * unknown server holds only what old servers know.
 */

static const struct openai_dialect *const hosts[] = {
	&deepseek_dialect, &mistral_dialect, &google, &azure_host, NULL,
};
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
	.hosts = hosts,
	.settings = { "OPENAI_BASE_URL" },
	.max_field = "OPENAI_MAX_TOKENS_FIELD",
	.quirks = LIKE_OPENAI,
};
PROVIDER(openai, "openai");
