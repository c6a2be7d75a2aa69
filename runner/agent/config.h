/*
 * generate_content_config: the field of an agent's file with the options of its model
 * calls, which are Gemini's.
 */
#ifndef RUNNER_AGENT_CONFIG_H
#define RUNNER_AGENT_CONFIG_H

#include "runner/syntax/yaml.h"

#define GENCONFIG_FIELD "generate_content_config"

/*
 * Check the options. *out is a new object with their names in camelCase, such as
 * {"topP": 0.9}. 0; -EINVAL: err has "FILE:LINE: generate_content_config.name: reason";
 * -ENOMEM.
 */
MUST_CHECK int genconfig_read(const struct yaml_tree *tree, const json_t *value, json_t **out,
			      struct err *err);

#endif
