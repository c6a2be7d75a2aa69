/*
 * JSON files of an agent's folder, as a tree that knows its lines.
 *
 * A JSON parser reads the value. The YAML reader finds the lines, since JSON is
 * YAML, too. So code that checks such a file reports errors with yaml_tree_fail(),
 * as for a YAML file. A text that the YAML reader refuses has no lines: all errors
 * are at line 1.
 */
#ifndef RUNNER_SYNTAX_JSON_TREE_H
#define RUNNER_SYNTAX_JSON_TREE_H

#include "runner/syntax/yaml.h"

/*
 * Read a text; errors call it `file`. The caller frees *out with yaml_tree_free().
 * 0; -EINVAL: err has "FILE:LINE: reason", even for a member that is there twice;
 * -ENOMEM. Any thread.
 */
MUST_CHECK int json_tree_load(struct span text, const char *file, struct yaml_tree **out,
			      struct err *err);

#endif
