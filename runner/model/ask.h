/*
 * Asking a model: who is asked, with which key, and again when it failed.
 */
#ifndef RUNNER_MODEL_ASK_H
#define RUNNER_MODEL_ASK_H

#include "runner/wire/provider.h"

/*
 * Split "openai/gpt-5-mini" into its provider and the rest; "gemini-2.5-flash" needs no prefix.
 * -EINVAL: no provider of that name.
 */
MUST_CHECK int model_find(const char *model, const struct model_provider **provider,
			  const char **name, struct err *err);

/* All providers. */
const struct model_provider *const *model_providers(size_t *count);

/* The provider of that name and no other spelling. -ENOENT. */
MUST_CHECK int model_provider_find(const char *name, const struct model_provider **out);

/* The provider that is asked: the question's own, or another in its place. */
const struct model_provider *model_settle(const struct question *q);

/*
 * Whether the provider that is asked takes an output schema beside tools. The provider, the
 * name, the folder and the settings of the question must be set. A cassette answers for the
 * provider that was asked first there; a cassette that nobody can play answers true.
 */
bool model_takes_schema(const struct question *q);

/*
 * Show the settings, without secrets, in the form of config.json: `file`, its path or null;
 * `reason`, why it is not used, or null; `values` by name, each with `value` and `from`
 * ("environment", "file", "default"), null when it is not set, a mark in place of secrets; `apps`,
 * the same for each section of an app. NULL: no memory.
 */
json_t *model_show_settings(void);

/*
 * Ask. This sets provider and name of the question from `model`. Text pieces go to
 * reply->on_text as they come. Retries happen here, before the first byte only. Settings that
 * change how (see options.h): ADKFS_MODEL_RETRIES, _CONNECT_MS, _FIRST_BYTE_MS,
 * _IDLE_MS.
 *
 * Returns 0 when the answer is complete (error_code may tell why it has no
 * content); -ECANCELED; any other error: the call failed or broke off, err
 * has a sentence for people without secrets, and reply keeps what had come.
 * Any thread; blocks.
 */
MUST_CHECK int model_ask(const char *model, struct question *q, struct cancel *cancel,
			 struct model_reply *reply, struct err *err);

#endif
