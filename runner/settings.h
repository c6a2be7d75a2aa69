/*
 * Settings: names and values such as OPENAI_API_KEY, from the `.env` file of an
 * agent's folder, which ADK reads too, or else from the daemon's environment.
 *
 * Values are secrets: they never enter an event, an error, a log line or the
 * environment of a child.
 */
#ifndef RUNNER_SETTINGS_H
#define RUNNER_SETTINGS_H

#include "base/buf.h"

struct settings;

/*
 * Read FOLDER/.env: NAME=VALUE lines, '#' comments, `export` and quotes allowed.
 * A missing file is an empty one. -EINVAL names file and line; -errno.
 */
MUST_CHECK int settings_load(const char *folder, struct settings **out, struct err *err);

/* The members of a JSON object of texts, and nothing of the environment. -EINVAL; -ENOMEM. */
MUST_CHECK int settings_of(struct span object, struct settings **out);
void settings_free(struct settings *settings);

/* The value, from the file or else the environment; NULL when unset or empty. Borrowed. */
const char *settings_get(const struct settings *settings, const char *name);

#endif
