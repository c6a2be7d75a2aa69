/*
 * Fields of an agent's file: what their rows name.
 *
 * A row says which kinds of agents have a field, who takes its value out of
 * the file and who shows it in agent.json. The table is in fields.c, the
 * functions in scalar.c and nested.c.
 */
#ifndef RUNNER_AGENT_FIELD_H
#define RUNNER_AGENT_FIELD_H

#include "runner/agent/entry.h"
#include "runner/agent/file.h"

struct agent_field {
	const char *name;
	unsigned kinds; /* of agents that have it, as bits */

	/* 0; -EINVAL: err has "FILE:LINE: field: reason"; -ENOMEM. The value is never null. */
	int (*read)(struct agent_file *file, const struct agent_field *f, json_t *value);

	/* JSON null: it is left out. NULL: out of memory. */
	json_t *(*show)(const struct agent *agent, const struct agent_field *f);

	size_t at;   /* of its value in struct agent; of callbacks: their kind */
	bool refers; /* to other agents: taken after everything else */
};

/* The place of a field's value. */
static inline void *agent_field_of(struct agent_file *file, const struct agent_field *f)
{
	return (char *)file->agent + f->at;
}

static inline const void *agent_field_in(const struct agent *agent, const struct agent_field *f)
{
	return (const char *)agent + f->at;
}

/* The entry at `path`, still to be read. */
static inline struct entry agent_entry(struct agent_file *file, const char *path)
{
	return (struct entry){
		.folder = &file->ld->folder, .yaml = file->yaml, .path = path, .err = file->ld->err
	};
}

/* fields.c: take all fields of a file. */
MUST_CHECK int agent_fields_read(struct agent_file *file);

/* scalar.c: words, texts, flags and numbers */
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

/* nested.c: values with structure */
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
