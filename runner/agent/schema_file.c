/*
 * Schemas in files: see schema_file.h.
 */
#include "runner/agent/schema_file.h"

#include "runner/syntax/json_tree.h"
#include "runner/syntax/schema_form.h"

#include <errno.h>

static int check_tree(const struct yaml_tree *tree, struct err *err)
{
	CLEANUP(buf_release) struct buf where = { 0 };
	const char *type = json_string_value(json_object_get(tree->root, "type"));
	struct err reason = { 0 };
	int r;

	if (!type || strcasecmp(type, "object") != 0)
		return yaml_tree_fail(tree, err, json_is_object(tree->root) ? "type" : "",
				      "must be a schema with \"type\": \"object\"");
	r = schema_form_check(tree->root, &where, &reason);
	if (r == -ENOMEM || !buf_cstr(&where))
		return err_nomem(err);
	return r < 0 ? yaml_tree_fail(tree, err, where.data, "%s", reason.text) : 0;
}

int schema_file_read(const struct entry *e, json_t **out)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	CLEANUP(yaml_tree_free_p) struct yaml_tree *tree = NULL;
	struct err reason = { 0 };
	int r = folder_read(e->folder, e->name, AGENT_FILE_MAX, &text, &reason);

	if (r < 0)
		return entry_refuse(e, "name", r, &reason);
	r = json_tree_load(buf_span(&text), e->name, &tree, e->err);
	if (r == 0)
		r = check_tree(tree, e->err);
	if (r < 0)
		return r;
	*out = json_incref(tree->root);
	return 0;
}
