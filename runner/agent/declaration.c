/*
 * Declarations: see declaration.h. The table of members is at the end.
 */
#include "runner/agent/declaration.h"

#include "runner/syntax/json_tree.h"

#include <errno.h>
#include <stdlib.h>

struct reader {
	struct yaml_tree *tree; /* of the file */
	struct tool *tool;
	struct err *err;
};

struct member {
	const char *name;
	int (*read)(struct reader *rd, const struct member *m, json_t *value);
	size_t at; /* where in struct tool */
	bool required;
};

static void *place_of(struct reader *rd, const struct member *m)
{
	return (char *)rd->tool + m->at;
}

static int read_text(struct reader *rd, const struct member *m, json_t *value)
{
	char **out = place_of(rd, m);

	if (!json_is_string(value))
		return yaml_tree_fail(rd->tree, rd->err, m->name, "must be a text");
	if (!json_string_length(value))
		return yaml_tree_fail(rd->tree, rd->err, m->name, "is empty");
	*out = strdup(json_string_value(value));
	return *out ? 0 : err_nomem(rd->err);
}

static bool is_letter(char c)
{
	return ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_';
}

static bool is_tool_name(const char *name)
{
	size_t i;

	if (!is_letter(name[0]) || strlen(name) > DECLARATION_NAME_MAX)
		return false;
	for (i = 1; name[i]; i++) {
		if (!is_letter(name[i]) && !strchr("0123456789.-", name[i]))
			return false;
	}
	return true;
}

static int check_name(struct reader *rd, const char *member)
{
	if (is_tool_name(rd->tool->name))
		return 0;
	return yaml_tree_fail(rd->tree, rd->err, member,
			      "'%.80s' must be a letter or _, then letters, digits, _ . -, at "
			      "most %d",
			      rd->tool->name, DECLARATION_NAME_MAX);
}

static int read_name(struct reader *rd, const struct member *m, json_t *value)
{
	int r = read_text(rd, m, value);

	return r < 0 ? r : check_name(rd, m->name);
}

static int read_parameters(struct reader *rd, const struct member *m, json_t *value)
{
	const char *type = json_string_value(json_object_get(value, "type"));

	if (!type || strcasecmp(type, "object") != 0)
		return yaml_tree_fail(rd->tree, rd->err, m->name,
				      "must be a schema with \"type\": \"object\"");
	rd->tool->parameters = json_incref(value);
	return 0;
}

static int read_response(struct reader *rd, const struct member *m, json_t *value)
{
	if (!json_is_object(value))
		return yaml_tree_fail(rd->tree, rd->err, m->name, "must be a schema");
	rd->tool->response = json_incref(value);
	return 0;
}

static int read_flag(struct reader *rd, const struct member *m, json_t *value)
{
	bool *out = place_of(rd, m);

	if (!json_is_boolean(value))
		return yaml_tree_fail(rd->tree, rd->err, m->name, "must be true or false");
	*out = json_is_true(value);
	return 0;
}

#define AT(place) offsetof(struct tool, place)

static const struct member members[] = {
	{ "name", read_name, AT(name), false },
	{ "description", read_text, AT(description), true },
	{ "parameters", read_parameters, AT(parameters), false },
	{ "responseSchema", read_response, AT(response), false },
	{ "isLongRunning", read_flag, AT(long_running), false },
	{ "requireConfirmation", read_flag, AT(confirm), false },
	{ "network", read_flag, AT(program.network), false },
};

static int check_known(struct reader *rd)
{
	const char *name;
	json_t *value;

	json_object_foreach(rd->tree->root, name, value)
	{
		size_t i = 0;

		while (i < ARRAY_SIZE(members) && strcmp(members[i].name, name) != 0)
			i++;
		if (i == ARRAY_SIZE(members))
			return yaml_tree_fail(rd->tree, rd->err, name, "unknown member");
	}
	return 0;
}

static int read_members(struct reader *rd)
{
	size_t i;
	int r = check_known(rd);

	for (i = 0; i < ARRAY_SIZE(members) && r == 0; i++) {
		json_t *value = json_object_get(rd->tree->root, members[i].name);

		if (value)
			r = members[i].read(rd, &members[i], value);
		else if (members[i].required)
			r = yaml_tree_fail(rd->tree, rd->err, members[i].name, "is missing");
	}
	return r;
}

/* Name a tool after its file, tools/NAME.json, if the declaration has no name. */
static int default_name(struct reader *rd, const char *file)
{
	const char *slash = strrchr(file, '/');
	const char *name = slash ? slash + 1 : file;
	size_t len = strlen(name) - strlen(DECLARATION_SUFFIX);

	if (rd->tool->name)
		return 0;
	rd->tool->name = strndup(name, len);
	return rd->tool->name ? check_name(rd, members[0].name) : err_nomem(rd->err);
}

int declaration_read(struct span text, const char *file, struct tool *tool, struct err *err)
{
	CLEANUP(yaml_tree_free_p) struct yaml_tree *tree = NULL;
	struct reader rd = { .tool = tool, .err = err };
	int r = json_tree_load(text, file, &tree, err);

	if (r < 0)
		return r;
	rd.tree = tree;
	if (!json_is_object(tree->root))
		return yaml_tree_fail(tree, err, "", "must be an object");
	tool->declaration = json_incref(tree->root);
	r = read_members(&rd);
	return r < 0 ? r : default_name(&rd, file);
}
