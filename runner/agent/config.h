/*
 * generate_content_config: Gemini's options of a model call, as an agent's
 * file gives them, checked and with their names in camelCase.
 */
#ifndef RUNNER_AGENT_CONFIG_H
#define RUNNER_AGENT_CONFIG_H

#include "runner/syntax/yaml.h"

#define GENCONFIG_FIELD "generate_content_config"

/*
 * *out is a new object: {"topP": 0.9, ...}. -EINVAL: err has "FILE:LINE:
 * generate_content_config.name: reason"; -ENOMEM.
 */
MUST_CHECK int genconfig_read(const struct yaml_tree *tree, const json_t *value, json_t **out,
			      struct err *err);

#endif
