/*
 * YAML: a file of an agent's folder becomes a tree of JSON values.
 *
 * A file holds one document of YAML 1.1 with the scalars that Python's safe loader
 * knows: `yes` and `on` are true, `0x1f`, `017`, `0b1` and `1_000` are integers,
 * `~` is null. Quoted scalars are strings. `1e3` is a string, too: a float needs a
 * dot, and a sign in its exponent. Dates stay strings. The reader refuses tags other
 * than !!str, !!int, !!float, !!bool, !!null, !!map and !!seq; repeated keys;
 * keys that are not strings; infinities; NUL characters.
 *
 * The tree keeps the line of each field, so that code that checks the tree can
 * report it: "root_agent.yaml:7: tools[1].name: is missing".
 *
 * libyaml exports names such as yaml_free, so ours all start with yaml_tree.
 */
#ifndef RUNNER_SYNTAX_YAML_H
#define RUNNER_SYNTAX_YAML_H

#include "base/buf.h"

#include <jansson.h>

#define YAML_TREE_TEXT_MAX  (1u << 20) /* bytes of a file */
#define YAML_TREE_DEPTH_MAX 64
#define YAML_TREE_PATH_MAX  256 /* bytes of a path whose line is kept */

/* Bytes of all keys and texts, and 64 for each value; values of an alias count each time. */
#define YAML_TREE_WEIGHT_MAX (4u << 20)

struct yaml_tree {
	char *file;    /* as errors name it */
	json_t *root;  /* JSON null for an empty document */
	json_t *lines; /* object: path, such as "tools[1].name" -> line */
};

/* A text without its byte order mark, since libyaml would count the mark as a column. */
struct span yaml_tree_text(struct span text);

/* Make a tree without root and lines. The caller frees it. NULL: out of memory. */
struct yaml_tree *yaml_tree_new(const char *file);

/*
 * Read a text; errors call it `file`. The caller frees *out. Returns 0; -EINVAL: err
 * has "FILE:LINE: reason"; -EFBIG: over YAML_TREE_TEXT_MAX; -ENOMEM. Any thread.
 */
MUST_CHECK int yaml_tree_load(struct span text, const char *file, struct yaml_tree **out,
			      struct err *err);
void yaml_tree_free(struct yaml_tree *tree); /* NULL is fine */
DEFINE_CLEANUP(struct yaml_tree, yaml_tree_free);

/*
 * Set "FILE:LINE: PATH: reason" and return -EINVAL. "" is the path of the whole. A path without a
 * line of its own has the line of the nearest field around it.
 */
int yaml_tree_fail(const struct yaml_tree *tree, struct err *err, const char *path, const char *fmt,
		   ...) PRINTF(4, 5);

#endif
