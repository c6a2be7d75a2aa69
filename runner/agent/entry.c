/*
 * Entries: see entry.h.
 */
#include "runner/agent/entry.h"

#include "runner/syntax/json_tree.h"
#include "runner/syntax/schema_form.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define NAME "name"
#define ARGS "args"

int entry_fail(const struct entry *e, const char *member, const char *fmt, ...)
{
	char path[AGENT_PATH_MAX];
	char text[200];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	(void)snprintf(path, sizeof path, "%.80s%s%.100s", e->path, *member ? "." : "", member);
	return agent_file_fail(e->file, path, "%s", text);
}

/* Set the error of a member from the reason of another function; -ENOMEM stays -ENOMEM. */
static int entry_refuse(const struct entry *e, const char *member, int r, const struct err *reason)
{
	if (r == -ENOMEM)
		return err_nomem(e->file->ld->err);
	return entry_fail(e, member, "%s", reason->text);
}

int entry_read(struct entry *e, const json_t *value)
{
	const json_t *name = json_object_get(value, NAME);
	const json_t *args = json_object_get(value, ARGS);
	const char *key;
	json_t *member;

	if (!json_is_object(value))
		return entry_fail(e, "", "must be a mapping with a name");
	/* jansson's loop wants a mutable object, but does not change it */
	json_object_foreach((json_t *)value, key, member)
	{
		if (strcmp(key, NAME) != 0 && strcmp(key, ARGS) != 0)
			return entry_fail(e, key, "unknown field");
	}
	if (!json_is_string(name) || !json_string_length(name))
		return entry_fail(e, NAME, name ? "must be a text" : "is missing");
	if (json_is_null(args))
		args = NULL;
	if (args && !json_is_object(args))
		return entry_fail(e, ARGS, "must be a mapping");
	e->name = json_string_value(name);
	e->args = args;
	return 0;
}

int entry_refuse_args(const struct entry *e)
{
	return e->args ? entry_fail(e, ARGS, "%.80s takes no args", e->name) : 0;
}

/* Whether a name that is no program looks like module.function. */
static bool is_python(const char *name)
{
	return !strchr(name, '/') && strpbrk(name, ".:");
}

static const char *last_word(const char *name)
{
	const char *at = name + strlen(name);

	while (at > name && !strchr(".:", at[-1]))
		at--;
	return at;
}

int entry_find_program(const struct entry *e, const char *member, const char *name, char **path)
{
	struct err reason = { 0 };
	int r = folder_program(&e->file->ld->folder, name, path, &reason);

	if (r == 0)
		return 0;
	if (r == -ENOENT && is_python(name))
		return entry_fail(e, member,
				  "%.60s is a Python object, which adkfs cannot run: write a "
				  "program and give its path, such as programs/%.30s",
				  name, last_word(name));
	if (r == -ENOENT && !strchr(name, '/'))
		return entry_fail(e, member,
				  "'%.60s' is neither a built-in nor a program in the folder",
				  name);
	return entry_refuse(e, member, r, &reason);
}

int entry_dump_args(const struct entry *e, const char *member, const json_t *args, char **out)
{
	char *text = json_dumps(args, JSON_COMPACT | JSON_REAL_PRECISION(15));

	if (!text)
		return err_nomem(e->file->ld->err);
	if (strlen(text) > AGENT_ARGS_MAX) {
		free(text);
		return entry_fail(e, member, "has more than %d bytes", AGENT_ARGS_MAX);
	}
	*out = text;
	return 0;
}

int entry_read_program(const struct entry *e, struct program *out)
{
	int r = entry_find_program(e, NAME, e->name, &out->path);

	return r < 0 || !e->args ? r : entry_dump_args(e, ARGS, e->args, &out->args);
}

/* Schemas */

static int check_schema(const struct yaml_tree *tree, struct err *err)
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

int entry_read_schema(const struct entry *e, json_t **out)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	CLEANUP(yaml_tree_free_p) struct yaml_tree *tree = NULL;
	struct loader *ld = e->file->ld;
	struct err reason = { 0 };
	int r = folder_read(&ld->folder, e->name, AGENT_FILE_MAX, &text, &reason);

	if (r < 0)
		return entry_refuse(e, NAME, r, &reason);
	r = json_tree_load(buf_span(&text), e->name, &tree, ld->err);
	if (r == 0)
		r = check_schema(tree, ld->err);
	if (r < 0)
		return r;
	*out = json_incref(tree->root);
	return 0;
}
