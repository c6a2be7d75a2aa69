/*
 * Names of the settings of providers, and what the settings file calls them.
 * For settings.c and show.c.
 */
#ifndef RUNNER_MODEL_MEMBER_H
#define RUNNER_MODEL_MEMBER_H

#include "runner/model/settings.h"

#define MODEL_SETTING_MAX 128 /* bytes of a setting's name */

/* Settings that every provider has. */
enum model_common {
	MODEL_COMMON_HEADERS,
	MODEL_COMMON_PROXY,
	MODEL_COMMON_CA_FILE,
	MODEL_COMMONS,
};

/* The name of such a setting. */
void model_common_name(const struct model_provider *provider, enum model_common which,
		       char out[MODEL_SETTING_MAX]);

/* The name of the setting of the command for a key. */
void model_command_name(const char *key, char out[MODEL_SETTING_MAX]);

/* The first setting that is a key; NULL: there is none. */
const struct model_setting *model_first_key(const struct model_provider *provider);

/* Take "Name: value" apart. False: it is none, or libcurl's business. */
bool model_header_split(struct span line, struct span *name, struct span *value);

/* The name of an option of struct model_ask_options by its number, and its value without an agent
 * as a new reference; NULL: there are no more. */
const char *model_ask_option(size_t number, json_t **value);

#endif
