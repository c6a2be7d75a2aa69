/*
 * JSON files: see json_tree.h.
 */
#include "runner/syntax/json_tree.h"

#include <errno.h>

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
		tree = yaml_tree_new(file); /* without lines */
	if (!tree)
		return err_nomem(err);
	json_decref(tree->root);
	tree->root = STEAL(&root);
	*out = tree;
	return 0;
}
