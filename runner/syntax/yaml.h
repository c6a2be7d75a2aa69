/*
 * YAML: a file of an agent's folder as a tree of JSON values.
 *
 * One document of YAML 1.1 with the scalars that Python's safe loader knows:
 * `yes` and `on` are true, `0x1f`, `017`, `0b1` and `1_000` are integers, `~`
 * is null, what is quoted is a string, `1e3` is a string too (a float has a
 * dot, and a sign in its exponent). Dates stay strings. Errors are: tags other
 * than !!str, !!int, !!float, !!bool, !!null, !!map and !!seq; repeated keys;
 * keys that are not strings; infinities; NUL characters.
 *
 * The lines of the fields are kept, so that whoever checks the tree can say
 * where: "root_agent.yaml:7: tools[1].name: is missing".
 *
 * (libyaml exports names such as yaml_free: ours all start with yaml_tree.)
 */
#ifndef RUNNER_SYNTAX_YAML_H
#define RUNNER_SYNTAX_YAML_H

#include "base/buf.h"

#include <jansson.h>

#define YAML_TREE_TEXT_MAX  (1u << 20) /* bytes of a file */
#define YAML_TREE_DEPTH_MAX 64
#define YAML_TREE_PATH_MAX  256 /* bytes of a path whose line is kept */

/* Bytes of all keys and texts and 64 for each value; what an alias repeats counts again. */
#define YAML_TREE_WEIGHT_MAX (4u << 20)

struct yaml_tree {
	char *file;    /* as errors name it */
	json_t *root;  /* JSON null for an empty document */
	json_t *lines; /* object: path, such as "tools[1].name" -> line */
};

/* Without a byte order mark, behind which libyaml counts columns from 1. */
struct span yaml_tree_text(struct span text);

/*
 * Read a text; `file` is what errors call it. *out belongs to the caller.
 * -EINVAL: err has "FILE:LINE: reason"; -EFBIG: over YAML_TREE_TEXT_MAX;
 * -ENOMEM. Any thread.
 */
MUST_CHECK int yaml_tree_load(struct span text, const char *file, struct yaml_tree **out,
			      struct err *err);
void yaml_tree_free(struct yaml_tree *tree); /* NULL is fine */
DEFINE_CLEANUP(struct yaml_tree, yaml_tree_free);

/*
 * Set "FILE:LINE: PATH: reason" and return -EINVAL. "" is the path of the whole. A path without a
 * line of its own has that of what is around it.
 */
int yaml_tree_fail(const struct yaml_tree *tree, struct err *err, const char *path, const char *fmt,
		   ...) PRINTF(4, 5);

#endif
