/*
 * Files of agents: see file.h.
 */
#include "runner/agent/file.h"

#include "runner/syntax/json_value.h"

#include <stdarg.h>
#include <stdio.h>

#define REASON_MAX 400
#define REFERENCE  "config_path"

int agent_file_fail(struct agent_file *file, const char *path, const char *fmt, ...)
{
	char text[REASON_MAX];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	return yaml_tree_fail(file->yaml, file->ld->err, path, "%s", text);
}

int agent_file_warn(struct agent_file *file, const char *path, const char *fmt, ...)
{
	char text[REASON_MAX];
	struct err warning = { 0 };
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	(void)yaml_tree_fail(file->yaml, &warning, path, "%s", text);
	if (json_array_append_new(file->ld->tree->warnings, json_value_text(warning.text)))
		return err_nomem(file->ld->err);
	return 0;
}

int agent_file_refer(struct agent_file *file, const char *path, const json_t *reference,
		     struct agent *parent, struct agent **out)
{
	const json_t *name = json_object_get(reference, REFERENCE);
	char field[AGENT_PATH_MAX];
	const char *key;
	json_t *value;

	if (!json_is_object(reference))
		return agent_file_fail(file, path, "must be {" REFERENCE ": FILE}");
	/* jansson's loop wants a mutable object, but does not change it */
	json_object_foreach((json_t *)reference, key, value)
	{
		if (!strcmp(key, REFERENCE) || json_is_null(value))
			continue;
		(void)snprintf(field, sizeof field, "%.100s.%.60s", path, key);
		if (!strcmp(key, "code"))
			return agent_file_fail(file, field,
					       "names a Python object, which adkfs cannot run: use "
					       "{" REFERENCE ": FILE}");
		return agent_file_fail(file, field, "unknown field");
	}
	(void)snprintf(field, sizeof field, "%.100s." REFERENCE, path);
	if (!json_is_string(name))
		return agent_file_fail(file, field, name ? "must be a text" : "is missing");
	return file->ld->follow(file, field, json_string_value(name), parent, out);
}
