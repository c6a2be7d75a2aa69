/*
 * JSON files: see json_tree.h.
 */
#include "runner/syntax/json_tree.h"

#include <errno.h>
#include <stdlib.h>

/* A tree without lines, for a text that is not valid YAML. */
static struct yaml_tree *bare_tree(const char *file)
{
	struct yaml_tree *tree = calloc(1, sizeof *tree);

	if (!tree)
		return NULL;
	tree->file = strdup(file);
	tree->lines = json_object();
	if (!tree->file || !tree->lines) {
		yaml_tree_free(tree);
		return NULL;
	}
	return tree;
}

int json_tree_load(struct span text, const char *file, struct yaml_tree **out, struct err *err)
{
	json_auto_t *root = NULL;
	struct yaml_tree *tree = NULL;
	json_error_t at;
	int r;

	root = json_loadb(text.data, text.len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &at);
	if (!root && json_error_code(&at) == json_error_out_of_memory)
		return err_nomem(err);
	if (!root)
		return err_set(err, -EINVAL, "%s:%d: %s", file, MAX(at.line, 1), at.text);
	r = yaml_tree_load(text, file, &tree, NULL);
	if (r < 0 && r != -ENOMEM)
		tree = bare_tree(file);
	if (!tree)
		return err_nomem(err);
	json_decref(tree->root);
	tree->root = STEAL(&root);
	*out = tree;
	return 0;
}
