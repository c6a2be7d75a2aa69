/*
 * JSON files of an agent's folder, as a tree that knows its lines.
 *
 * The value is what a JSON parser makes of the text; the lines come from the
 * YAML reader, for which JSON is YAML. So whoever checks such a file says where
 * something is wrong with yaml_tree_fail(), as for a YAML file. A text that
 * YAML does not take has no lines: its errors are at line 1.
 */
#ifndef RUNNER_SYNTAX_JSON_TREE_H
#define RUNNER_SYNTAX_JSON_TREE_H

#include "runner/syntax/yaml.h"

/*
 * Read a text; `file` is what errors call it. *out belongs to the caller, for
 * yaml_tree_free(). -EINVAL: err has "FILE:LINE: reason", also for a member
 * that is there twice; -ENOMEM. Any thread.
 */
MUST_CHECK int json_tree_load(struct span text, const char *file, struct yaml_tree **out,
			      struct err *err);

#endif
