/*
 * Names of the settings of providers.
 *
 * Besides the settings in its table, each provider has PREFIX_CUSTOM_HEADERS
 * (lines "Name: value"), PREFIX_PROXY and PREFIX_CA_FILE, where PREFIX is its
 * name in upper case. Each setting NAME that is a key also has NAME_COMMAND, a
 * program that prints the key. A command in an agent's folder does not count.
 */
#ifndef RUNNER_WIRE_SETTING_H
#define RUNNER_WIRE_SETTING_H

#include "runner/wire/provider.h"

#define MODEL_SETTING_MAX 128 /* bytes of a setting's name */

/* Settings that every provider has. */
enum model_common {
	MODEL_COMMON_HEADERS,
	MODEL_COMMON_PROXY,
	MODEL_COMMON_CA_FILE,
	MODEL_COMMONS,
};

/* Write the provider's PREFIX and an underscore. Returns the length. */
size_t model_setting_prefix(const struct model_provider *provider, char out[MODEL_SETTING_MAX]);

/* Write the name of a setting that every provider has. */
void model_common_name(const struct model_provider *provider, enum model_common which,
		       char out[MODEL_SETTING_MAX]);

/* Write the name of the setting that holds the command for a key. */
void model_command_name(const char *key, char out[MODEL_SETTING_MAX]);

/* The first setting of the provider that is a key; NULL: none is. */
const struct model_setting *model_first_key(const struct model_provider *provider);

/* A line of PREFIX_CUSTOM_HEADERS. */
struct model_header_line {
	struct span text; /* the whole line, not empty */
	struct span name;
	struct span value;
	bool is_valid; /* "Name: value", and libcurl does not write this header itself */
};

/* Take the next line that is not empty from the rest. False: no line is left. */
bool model_header_next(struct span *rest, struct model_header_line *line);

/* Parse one line. */
struct model_header_line model_header_parse(struct span text);

#endif
