/*
 * Fields of an agent that are one word, text, flag or number: see field.h.
 */
#include "runner/agent/field.h"
#include "runner/agent/instruction.h"
#include "runner/agent/show.h"
#include "store/json/state_key.h"

#include <limits.h>
#include <stdlib.h>

#define CLASS_PREFIX "google.adk.agents."

/* Kinds */

static const char *const class_names[AGENT_KINDS] = {
	[AGENT_LLM] = "LlmAgent",           [AGENT_SEQUENTIAL] = "SequentialAgent",
	[AGENT_PARALLEL] = "ParallelAgent", [AGENT_LOOP] = "LoopAgent",
	[AGENT_PROGRAM] = "program",
};

const char *agent_kind_name(enum agent_kind kind)
{
	return class_names[kind];
}

/* Read the class, such as LlmAgent or google.adk.agents.LlmAgent, or the path of a program. */
int field_read_class(struct agent_file *file, const struct agent_field *f, json_t *value)
{
	struct entry entry = { .file = file, .path = f->name };
	const char *name = json_string_value(value);
	enum agent_kind kind = AGENT_LLM;

	if (!name)
		return agent_file_fail(file, f->name, "must be a text");
	if (strchr(name, '/')) {
		file->agent->kind = AGENT_PROGRAM;
		return entry_find_program(&entry, "", name, &file->agent->program.path);
	}
	if (!*name)
		return 0;
	if (!strncmp(name, CLASS_PREFIX, strlen(CLASS_PREFIX)))
		name = strrchr(name, '.') + 1;
	while (kind < AGENT_PROGRAM && strcmp(name, class_names[kind]) != 0)
		kind++;
	if (kind == AGENT_PROGRAM)
		return agent_file_fail(
			file, f->name,
			"unknown kind of agent '%.60s': there are %s, %s, %s, %s, and "
			"programs by their path",
			name, class_names[AGENT_LLM], class_names[AGENT_SEQUENTIAL],
			class_names[AGENT_PARALLEL], class_names[AGENT_LOOP]);
	file->agent->kind = kind;
	return 0;
}

json_t *field_show_class(const struct agent *agent, const struct agent_field *f UNUSED)
{
	if (agent->kind == AGENT_PROGRAM)
		return agent_show_path(agent, &agent->program);
	return json_string(class_names[agent->kind]);
}

/* Texts */

int field_read_text(struct agent_file *file, const struct agent_field *f, json_t *value)
{
	char **out = agent_field_of(file, f);

	if (!json_is_string(value))
		return agent_file_fail(file, f->name, "must be a text");
	*out = strdup(json_string_value(value));
	return *out ? 0 : err_nomem(file->ld->err);
}

json_t *field_show_text(const struct agent *agent, const struct agent_field *f)
{
	char *const *text = agent_field_in(agent, f);

	return *text ? json_string(*text) : json_null();
}

int field_read_name(struct agent_file *file, const struct agent_field *f, json_t *value)
{
	json_t *names = file->ld->names;
	const char *name;
	int r = field_read_text(file, f, value);

	if (r < 0)
		return r;
	name = file->agent->name;
	if (!instruction_is_identifier(span_of(name)))
		return agent_file_fail(file, f->name,
				       "'%.80s' must be a letter or _, then letters, digits, _",
				       name);
	if (!strcmp(name, "user"))
		return agent_file_fail(file, f->name,
				       "'user' is reserved for the person who talks to the agent");
	if (json_object_get(names, name))
		return agent_file_fail(file, f->name, "the agent in %.80s is already named %.80s",
				       json_string_value(json_object_get(names, name)), name);
	return json_object_set_new(names, name, json_string(file->agent->file))
		       ? err_nomem(file->ld->err)
		       : 0;
}

int field_read_model(struct agent_file *file, const struct agent_field *f, json_t *value)
{
	int r = field_read_text(file, f, value);

	if (r == 0 && !*file->agent->model)
		return agent_file_fail(file, f->name, "is empty");
	return r;
}

int field_read_output_key(struct agent_file *file, const struct agent_field *f, json_t *value)
{
	struct err reason = { 0 };
	int r = field_read_text(file, f, value);

	if (r < 0)
		return r;
	if (statekey_check(span_of(file->agent->output_key), &reason) < 0)
		return agent_file_fail(file, f->name, "%s", reason.text);
	return 0;
}

/* Words, flags, numbers */

static const char *const history_words[] = { "default", "none" };

int field_read_history(struct agent_file *file, const struct agent_field *f, json_t *value)
{
	const char *text = json_is_string(value) ? json_string_value(value) : "";

	file->agent->no_history = !strcmp(text, history_words[true]);
	if (file->agent->no_history || !strcmp(text, history_words[false]))
		return 0;
	return agent_file_fail(file, f->name, "must be %s or %s", history_words[false],
			       history_words[true]);
}

json_t *field_show_history(const struct agent *agent, const struct agent_field *f UNUSED)
{
	return json_string(history_words[agent->no_history]);
}

int field_read_flag(struct agent_file *file, const struct agent_field *f, json_t *value)
{
	bool *out = agent_field_of(file, f);

	if (!json_is_boolean(value))
		return agent_file_fail(file, f->name, "must be true or false");
	*out = json_is_true(value);
	return 0;
}

json_t *field_show_flag(const struct agent *agent, const struct agent_field *f)
{
	const bool *flag = agent_field_in(agent, f);

	return *flag ? json_true() : json_null();
}

int field_read_count(struct agent_file *file, const struct agent_field *f, json_t *value)
{
	json_int_t number = json_integer_value(value);
	unsigned *out = agent_field_of(file, f);

	if (!json_is_integer(value) || number < 0 || number > INT_MAX)
		return agent_file_fail(file, f->name, "must be a whole number from 0 to %d",
				       INT_MAX);
	*out = (unsigned)number;
	return 0;
}

json_t *field_show_count(const struct agent *agent, const struct agent_field *f)
{
	const unsigned *count = agent_field_in(agent, f);

	return *count ? json_integer(*count) : json_null();
}

/* Others */

int field_read_python(struct agent_file *file, const struct agent_field *f, json_t *value UNUSED)
{
	return agent_file_fail(file, f->name, "names a Python object, which adkfs cannot run");
}

json_t *field_show_nothing(const struct agent *agent UNUSED, const struct agent_field *f UNUSED)
{
	return json_null();
}
