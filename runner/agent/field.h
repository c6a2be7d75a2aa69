/*
 * Fields of an agent's file.
 *
 * A row of the table in fields.c describes a field: which kinds of agents have it, which
 * function reads its value from the file, and which function shows it in agent.json.
 */
#ifndef RUNNER_AGENT_FIELD_H
#define RUNNER_AGENT_FIELD_H

#include "runner/agent/entry.h"

struct agent_field {
	const char *name;
	unsigned kinds; /* the kinds of agents that have the field, as bits */

	/*
	 * Read the value, which is never null, into the agent. 0; -EINVAL: err has
	 * "FILE:LINE: field: reason"; -ENOMEM.
	 */
	int (*read)(struct agent_file *file, const struct agent_field *f, json_t *value);

	/* Make the value for agent.json. JSON null: leave it out; NULL: out of memory. */
	json_t *(*show)(const struct agent *agent, const struct agent_field *f);

	size_t at;   /* the offset of the value in struct agent; for callbacks: their kind */
	bool refers; /* the value refers to other agents: read it after all other fields */
};

/* The place of a field's value in its agent. */
static inline void *agent_field_of(struct agent_file *file, const struct agent_field *f)
{
	return (char *)file->agent + f->at;
}

static inline const void *agent_field_in(const struct agent *agent, const struct agent_field *f)
{
	return (const char *)agent + f->at;
}

/*
 * Read all fields of a file into its agent, and check that no required field is missing.
 * 0; -EINVAL: err has "FILE:LINE: field: reason"; -ENOMEM.
 */
MUST_CHECK int agent_fields_read(struct agent_file *file);

/* Rows in scalar.c: words, texts, flags and numbers */
int field_read_class(struct agent_file *file, const struct agent_field *f, json_t *value);
json_t *field_show_class(const struct agent *agent, const struct agent_field *f);
int field_read_text(struct agent_file *file, const struct agent_field *f, json_t *value);
json_t *field_show_text(const struct agent *agent, const struct agent_field *f);
int field_read_name(struct agent_file *file, const struct agent_field *f, json_t *value);
int field_read_model(struct agent_file *file, const struct agent_field *f, json_t *value);
int field_read_output_key(struct agent_file *file, const struct agent_field *f, json_t *value);
int field_read_history(struct agent_file *file, const struct agent_field *f, json_t *value);
json_t *field_show_history(const struct agent *agent, const struct agent_field *f);
int field_read_flag(struct agent_file *file, const struct agent_field *f, json_t *value);
json_t *field_show_flag(const struct agent *agent, const struct agent_field *f);
int field_read_count(struct agent_file *file, const struct agent_field *f, json_t *value);
json_t *field_show_count(const struct agent *agent, const struct agent_field *f);
int field_read_python(struct agent_file *file, const struct agent_field *f, json_t *value);
json_t *field_show_nothing(const struct agent *agent, const struct agent_field *f);

/* Rows in nested.c and show.c: values with structure */
int field_read_static(struct agent_file *file, const struct agent_field *f, json_t *value);
json_t *field_show_static(const struct agent *agent, const struct agent_field *f);
int field_read_config(struct agent_file *file, const struct agent_field *f, json_t *value);
int field_read_schema(struct agent_file *file, const struct agent_field *f, json_t *value);
json_t *field_show_json(const struct agent *agent, const struct agent_field *f);
int field_read_callbacks(struct agent_file *file, const struct agent_field *f, json_t *value);
json_t *field_show_callbacks(const struct agent *agent, const struct agent_field *f);
int field_read_subs(struct agent_file *file, const struct agent_field *f, json_t *value);
int field_read_tools(struct agent_file *file, const struct agent_field *f, json_t *value);

#endif
