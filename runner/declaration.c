/*
 * Declarations: see declaration.h. The table of members is at the end.
 */
#include "runner/declaration.h"

#include <errno.h>
#include <stdlib.h>

struct member {
	const char *name;
	bool required;
	int (*take)(struct tool *tool, const struct member *m, json_t *value, struct err *err);
};

static int take_text(char **out, const struct member *m, const json_t *value, struct err *err)
{
	if (!json_is_string(value) || !json_string_length(value))
		return err_set(err, -EINVAL, "%s: must be a text", m->name);
	*out = strdup(json_string_value(value));
	return *out ? 0 : err_nomem(err);
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

static int check_name(const char *name, struct err *err)
{
	if (is_tool_name(name))
		return 0;
	return err_set(err, -EINVAL,
		       "name: '%.80s' has to be a letter or _, then letters, digits, _ . -, at "
		       "most %d",
		       name, DECLARATION_NAME_MAX);
}

static int take_name(struct tool *tool, const struct member *m, json_t *value, struct err *err)
{
	int r = take_text(&tool->name, m, value, err);

	return r < 0 ? r : check_name(tool->name, err);
}

static int take_description(struct tool *tool, const struct member *m, json_t *value,
			    struct err *err)
{
	return take_text(&tool->description, m, value, err);
}

static int take_parameters(struct tool *tool, const struct member *m, json_t *value,
			   struct err *err)
{
	const char *type = json_string_value(json_object_get(value, "type"));

	if (!type || strcasecmp(type, "object") != 0)
		return err_set(err, -EINVAL, "%s: must be a schema with \"type\": \"object\"",
			       m->name);
	tool->parameters = json_incref(value);
	return 0;
}

static int take_response(struct tool *tool, const struct member *m, json_t *value, struct err *err)
{
	if (!json_is_object(value))
		return err_set(err, -EINVAL, "%s: must be a schema", m->name);
	tool->response = json_incref(value);
	return 0;
}

static int take_flag(bool *out, const struct member *m, const json_t *value, struct err *err)
{
	if (!json_is_boolean(value))
		return err_set(err, -EINVAL, "%s: must be true or false", m->name);
	*out = json_is_true(value);
	return 0;
}

static int take_long_running(struct tool *tool, const struct member *m, json_t *value,
			     struct err *err)
{
	return take_flag(&tool->long_running, m, value, err);
}

static int take_confirmation(struct tool *tool, const struct member *m, json_t *value,
			     struct err *err)
{
	int r = take_flag(&tool->confirm, m, value, err);

	if (r == 0 && tool->confirm)
		return err_set(err, -EINVAL, "%s: " AGENT_NOT_YET, m->name);
	return r;
}

static const struct member members[] = {
	{ "name", false, take_name },
	{ "description", true, take_description },
	{ "parameters", false, take_parameters },
	{ "responseSchema", false, take_response },
	{ "isLongRunning", false, take_long_running },
	{ "requireConfirmation", false, take_confirmation },
};

static int check_known(const json_t *object, struct err *err)
{
	const char *name;
	json_t *value;

	/* jansson's loop wants a mutable object, but does not change it */
	json_object_foreach((json_t *)object, name, value)
	{
		size_t i = 0;

		while (i < ARRAY_SIZE(members) && strcmp(members[i].name, name) != 0)
			i++;
		if (i == ARRAY_SIZE(members))
			return err_set(err, -EINVAL, "%.80s: unknown member", name);
	}
	return 0;
}

static int take_members(struct tool *tool, struct err *err)
{
	size_t i;
	int r = check_known(tool->declaration, err);

	for (i = 0; i < ARRAY_SIZE(members) && r == 0; i++) {
		json_t *value = json_object_get(tool->declaration, members[i].name);

		if (value)
			r = members[i].take(tool, &members[i], value, err);
		else if (members[i].required)
			r = err_set(err, -EINVAL, "%s: is missing", members[i].name);
	}
	return r;
}

/* Without a name of its own the tool has that of its file, tools/NAME.json. */
static int default_name(struct tool *tool, const char *file, struct err *err)
{
	const char *slash = strrchr(file, '/');
	const char *name = slash ? slash + 1 : file;
	size_t len = strlen(name) - strlen(DECLARATION_SUFFIX);

	if (tool->name)
		return 0;
	tool->name = strndup(name, len);
	return tool->name ? check_name(tool->name, err) : err_nomem(err);
}

int declaration_read(struct span text, const char *file, struct tool *tool, struct err *err)
{
	json_error_t at;
	int r;

	tool->declaration = json_loadb(text.data, text.len, JSON_REJECT_DUPLICATES, &at);
	if (!tool->declaration)
		return err_set(err, -EINVAL, "%s:%d: %s", file, at.line, at.text);
	if (!json_is_object(tool->declaration))
		return err_set(err, -EINVAL, "%s:1: must be an object", file);
	r = take_members(tool, err);
	if (r == 0)
		r = default_name(tool, file, err);
	if (r == -EINVAL)
		(void)err_wrap(err, "%s", file);
	return r;
}
