/*
 * The table of providers, and which of them a model's name means: see ask.h.
 */
#include "runner/model/ask.h"

#include "runner/model/replay.h"

#include <errno.h>

/* The first provider that a name fits counts, so responses comes before openai. */
static const struct model_provider *const providers[] = {
	&model_anthropic,   &model_azure,      &model_deepseek,    &model_fireworks_ai,
	&model_gemini,      &model_groq,       &model_hosted_vllm, &model_litellm_proxy,
	&model_lm_studio,   &model_mistral,    &model_ollama,      &model_responses,
	&model_openai,      &model_openrouter, &model_replay,      &model_script,
	&model_together_ai, &model_vertex_ai,  &model_xai,
};

const struct model_provider *const *model_providers(size_t *count)
{
	*count = ARRAY_SIZE(providers);
	return providers;
}

int model_provider_find(const char *name, const struct model_provider **out)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(providers); i++) {
		if (!strcmp(providers[i]->name, name)) {
			*out = providers[i];
			return 0;
		}
	}
	return -ENOENT;
}

/* The text after a prefix and a slash; NULL: the model does not begin so. */
static const char *skip_prefix(const char *model, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(model, prefix, n) == 0 && model[n] == '/' && model[n + 1] ? model + n + 1
										 : NULL;
}

/* The name that this provider is asked for; NULL: the model is another provider's. */
static const char *name_for(const struct model_provider *provider, const char *model)
{
	const char *name = skip_prefix(model, provider->name);
	const char *const *word;

	for (word = provider->spellings; !name && word && *word; word++)
		name = skip_prefix(model, *word);
	for (word = provider->bare; !name && word && *word; word++)
		name = strncmp(model, *word, strlen(*word)) == 0 ? model : NULL;
	return name;
}

int model_find(const char *model, const struct model_provider **provider, const char **name,
	       struct err *err)
{
	const char *slash;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(providers); i++) {
		const char *found = name_for(providers[i], model);

		if (!found)
			continue;
		*provider = providers[i];
		*name = found;
		return 0;
	}
	slash = strchr(model, '/');
	if (slash && slash > model && slash[1])
		return err_set(err, -EINVAL,
			       "the model '%.80s' has the provider '%.*s', which is not known; "
			       "docs/models.md lists the providers",
			       model, (int)MIN(slash - model, 40), model);
	return err_set(err, -EINVAL,
		       "the model '%.80s' is not of the form PROVIDER/NAME, such as openai/NAME; "
		       "docs/models.md lists the providers",
		       model);
}

const struct model_provider *model_settle(const struct question *q)
{
	return q->provider->instead ? q->provider->instead(q) : q->provider;
}

/* A cassette that cannot be opened counts as "yes"; model_ask() reports the reason. */
static bool cassette_takes_schema(const struct question *q)
{
	CLEANUP(cassette_unref_p) struct cassette *cassette = NULL;
	const struct model_provider *provider;
	const struct cassette_source *sources;
	size_t count = 0;
	bool paced;

	if (model_replay_open(q->folder, q->name, &cassette, &paced, NULL) < 0)
		return true;
	sources = cassette_sources(cassette, &count);
	return !count || model_provider_find(sources[0].provider, &provider) < 0 ||
	       provider->schema_with_tools;
}

bool model_takes_schema(const struct question *q)
{
	return q->provider->replays ? cassette_takes_schema(q) : model_settle(q)->schema_with_tools;
}
