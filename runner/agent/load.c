/*
 * Loading agents: the folder, its settings, and files that refer to other files. Fields
 * of a file are read by fields.c.
 */
#include "runner/agent/agent.h"

#include "runner/agent/field.h"
#include "runner/model/settings.h"
#include "runner/syntax/json_value.h"

#include <errno.h>
#include <stdlib.h>

#define ENV_FILE       ".env"
#define TIMEOUT_MAX_MS 86400000
#define TURNS_MAX      100000

/* Files */

static void agent_file_release(struct agent_file *file)
{
	yaml_tree_free(file->yaml);
}

/* Make the agent of a file from its text. `name` is relative to the folder. */
static int load_text(struct agent_file *file, struct agent *parent, const char *name,
		     struct span text, struct agent **out)
{
	struct loader *ld = file->ld;
	const char *user = file->above ? file->above->agent->file : "";
	int r = yaml_tree_load(text, name, &file->yaml, ld->err);

	if (r < 0)
		return r;
	/* The path need not be UTF-8. */
	if (json_object_set_new_nocheck(ld->users, file->path, json_string_nocheck(user)))
		return err_nomem(ld->err);
	file->agent = agent_new(ld->tree, parent, name);
	if (!file->agent)
		return err_nomem(ld->err);
	r = agent_fields_read(file);
	if (r == 0)
		r = agent_review(file);
	if (r == 0)
		*out = file->agent;
	return r;
}

/* References */

static bool is_above(const struct agent_file *file, const char *path)
{
	while (file && strcmp(file->path, path) != 0)
		file = file->above;
	return file;
}

/* Check that the file of a path may become one more agent of the tree. */
static int check_new(struct agent_file *file, const char *field, const char *name, const char *path)
{
	struct loader *ld = file->ld;
	const json_t *user = json_object_get(ld->users, path);

	if (is_above(file, path))
		return agent_file_fail(file, field,
				       "%.80s refers to this file, which makes a circle", name);
	if (user)
		return agent_file_fail(file, field, "%.80s is already used by %.80s", name,
				       json_string_value(user));
	if (ld->tree->count == AGENT_TREE_MAX)
		return agent_file_fail(file, field, "more than %d agents", AGENT_TREE_MAX);
	if (file->depth + 1 >= AGENT_DEPTH_MAX)
		return agent_file_fail(file, field, "agents are nested more than %d levels deep",
				       AGENT_DEPTH_MAX);
	return 0;
}

/* Append a name that is relative to the file `from`, but make it relative to the folder. */
static void join_name(const char *from, const char *name, struct buf *out)
{
	const char *slash = strrchr(from, '/');

	if (slash && *name != '/')
		buf_add(out, from, (size_t)(slash + 1 - from));
	while (name[0] == '.' && name[1] == '/')
		name += 1 + strspn(name + 1, "/");
	buf_text(out, name);
}

/* Replace a name with ../ by the name of the file that it leads to. */
static const char *clean_name(const struct folder *folder, const char *name, const char *real)
{
	if (!strstr(name, "../"))
		return name;
	real += strlen(folder->path);
	return real + strspn(real, "/");
}

static int refuse_reference(struct agent_file *file, const char *field, int r,
			    const struct err *reason)
{
	return r == -ENOMEM ? err_nomem(file->ld->err)
			    : agent_file_fail(file, field, "%s", reason->text);
}

static int follow_reference(struct agent_file *file, const char *path, const char *name,
			    struct agent *parent, struct agent **out)
{
	CLEANUP(buf_release) struct buf joined = { 0 };
	CLEANUP(buf_release) struct buf text = { 0 };
	CLEANUP(free_p) char *real = NULL;
	CLEANUP(agent_file_release)
	struct agent_file below = { .ld = file->ld, .above = file, .depth = file->depth + 1 };
	struct folder *folder = &file->ld->folder;
	struct err reason = { 0 };
	int r;

	if (!*name)
		return agent_file_fail(file, path, "is empty");
	join_name(file->agent->file, name, &joined);
	if (!buf_cstr(&joined))
		return err_nomem(file->ld->err);
	r = folder_resolve(folder, joined.data, &real, &reason);
	if (r < 0)
		return refuse_reference(file, path, r, &reason);
	name = clean_name(folder, joined.data, real);
	r = check_new(file, path, name, real);
	if (r < 0)
		return r;
	r = folder_read(folder, name, AGENT_FILE_MAX, &text, &reason);
	if (r < 0)
		return refuse_reference(file, path, r, &reason);
	below.path = real;
	return load_text(&below, parent, name, buf_span(&text), out);
}

/* Settings */

static const struct number {
	const char *setting;
	size_t at; /* in struct agent_tree; unchanged if the setting is absent */
	unsigned long min;
	unsigned long max;
} numbers[] = {
	{ "ADKFS_TOOL_TIMEOUT_MS", offsetof(struct agent_tree, tool_timeout_ms), 1,
	  TIMEOUT_MAX_MS },
	{ "ADKFS_COMPACTION_INTERVAL", offsetof(struct agent_tree, compaction_interval), 0,
	  TURNS_MAX },
	{ "ADKFS_COMPACTION_OVERLAP", offsetof(struct agent_tree, compaction_overlap), 0,
	  TURNS_MAX },
};

static int read_number(struct loader *ld, const struct number *n)
{
	const char *text = settings_get(ld->tree->settings, n->setting);
	unsigned *out = (unsigned *)(void *)((char *)ld->tree + n->at);
	unsigned long value;
	char *end;

	if (!text)
		return 0;
	errno = 0;
	value = strtoul(text, &end, 10);
	if (*end || *text < '0' || *text > '9' || errno || value < n->min || value > n->max)
		return err_set(ld->err, -EINVAL, "%s: must be a number from %lu to %lu", n->setting,
			       n->min, n->max);
	*out = (unsigned)value;
	return 0;
}

static int warn_setting(void *arg, const char *sentence)
{
	struct loader *ld = arg;

	return json_array_append_new(ld->tree->warnings, json_value_text(sentence)) ? -ENOMEM : 0;
}

static int read_settings(struct loader *ld)
{
	int r = folder_note(&ld->folder, ENV_FILE, ld->err);
	size_t i;

	if (r == 0)
		r = settings_load(ld->folder.path, ld->app, &ld->tree->settings, ld->err);
	if (r == 0 && model_settings_review(ld->tree->settings, warn_setting, ld) < 0)
		r = err_nomem(ld->err);
	for (i = 0; i < ARRAY_SIZE(numbers) && r == 0; i++)
		r = read_number(ld, &numbers[i]);
	return r;
}

/* The folder */

static int load_root(struct loader *ld)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	CLEANUP(free_p) char *real = NULL;
	CLEANUP(agent_file_release) struct agent_file file = { .ld = ld };
	int r = folder_read(&ld->folder, AGENT_ROOT_FILE, AGENT_FILE_MAX, &text, ld->err);

	if (r == 0)
		r = read_settings(ld);
	if (r == 0)
		r = folder_resolve(&ld->folder, AGENT_ROOT_FILE, &real, ld->err);
	if (r < 0)
		return r;
	file.path = real;
	return load_text(&file, NULL, AGENT_ROOT_FILE, buf_span(&text), &ld->tree->root);
}

static void loader_release(struct loader *ld)
{
	agent_tree_unref(ld->tree);
	folder_release(&ld->folder);
	json_decref(ld->names);
	json_decref(ld->users);
}

/* The part after the last slash. */
static const char *app_of(const char *folder)
{
	const char *slash = strrchr(folder, '/');

	return slash ? slash + 1 : folder;
}

int agent_load(const char *folder, struct agent_tree **out, struct err *err)
{
	CLEANUP(loader_release)
	struct loader ld = { .app = app_of(folder), .follow = follow_reference, .err = err };
	int r;

	ld.tree = agent_tree_new();
	ld.names = json_object();
	ld.users = json_object();
	if (!ld.tree || !ld.names || !ld.users)
		return err_nomem(err);
	r = folder_open(folder, &ld.folder, err);
	if (r < 0)
		return r;
	ld.tree->folder = strdup(ld.folder.path);
	if (!ld.tree->folder)
		return err_nomem(err);
	r = load_root(&ld);
	if (r < 0)
		return r;
	ld.tree->files = STEAL(&ld.folder.files);
	ld.tree->mtime = ld.folder.mtime;
	*out = STEAL(&ld.tree);
	return 0;
}
