/*
 * Asking a model: choice of the provider, its key, and retries after failures.
 */
#ifndef RUNNER_MODEL_ASK_H
#define RUNNER_MODEL_ASK_H

#include "runner/wire/provider.h"

/*
 * Split "openai/gpt-5-mini" into the provider and the name; "gemini-2.5-flash" needs no prefix.
 * -EINVAL: no provider has that name.
 */
MUST_CHECK int model_find(const char *model, const struct model_provider **provider,
			  const char **name, struct err *err);

/* All providers. */
const struct model_provider *const *model_providers(size_t *count);

/* Find the provider of a name; other spellings do not count. -ENOENT. */
MUST_CHECK int model_provider_find(const char *name, const struct model_provider **out);

/* The provider that is really asked: the question's own, or the one that it names instead. */
const struct model_provider *model_settle(const struct question *q);

/*
 * Whether an output schema and tools can be sent together. The provider, the name, the folder and
 * the settings of the question must be set. A cassette answers as the provider that it recorded
 * first; an unreadable cassette answers true.
 */
bool model_takes_schema(const struct question *q);

/*
 * Show the settings, with a mark for each secret, in the form of config.json: `file`, the path of
 * the settings file or null; `reason`, why the file is not used, or null; `values`, an object that
 * has `value` and `from` ("environment", "file", "default") for each name, or null if it is not
 * set; `apps`, such values for each app with a section. NULL: no memory.
 */
json_t *model_show_settings(void);

/*
 * Ask a model. `model` sets the provider and the name of the question. Pieces of text go to
 * reply->on_text as they come. An attempt is repeated only if no byte of the answer's body came.
 * The settings ADKFS_MODEL_* (options.h) set the limits.
 *
 * Returns 0 when the answer is complete (error_code tells why it has no content); -ECANCELED;
 * another -errno: the attempts failed or the answer broke off; err has a sentence without
 * secrets, and the reply keeps what has come. Any thread; blocks.
 */
MUST_CHECK int model_ask(const char *model, struct question *q, struct cancel *cancel,
			 struct model_reply *reply, struct err *err);

#endif
