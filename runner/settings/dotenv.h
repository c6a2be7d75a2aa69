/*
 * The file `.env` of an agent's folder, which ADK reads too.
 *
 * NAME=VALUE lines, '#' comments, `export` and quotes are allowed. The last line
 * of a name wins.
 */
#ifndef RUNNER_SETTINGS_DOTENV_H
#define RUNNER_SETTINGS_DOTENV_H

#include "runner/settings/values.h"

/*
 * Add the values in FOLDER/.env, if the file exists. -EINVAL names the file and the line; -EFBIG;
 * -ENOMEM; another -errno.
 */
MUST_CHECK int dotenv_load(const char *folder, struct values *into, struct err *err);

#endif
