/*
 * Names of functions for OpenAI's chat completions: one rule for all servers.
 */
#include "runner/provider/openai/openai.h"

struct model_name_rule openai_name_rule(const struct model_provider *provider)
{
	return (struct model_name_rule){ provider->name, "", 64 };
}

int openai_name(const struct model_provider *provider, const char *name, struct buf *out,
		struct err *err)
{
	const struct model_name_rule rule = openai_name_rule(provider);

	return model_name_encode(&rule, name, out, err);
}

int openai_past_name(const struct model_provider *provider, const char *name, struct buf *out,
		     struct err *err)
{
	const struct model_name_rule rule = openai_name_rule(provider);

	return model_name_encode_past(&rule, name, out, err);
}
